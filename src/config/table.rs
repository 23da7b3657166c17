//! Every setting: its name, its variable, its default and what it does.

/// One setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its name in `loggia.toml`, and with hyphens as a flag.
    pub name: &'static str,
    /// Its environment variable.
    pub variable: &'static str,
    /// The shape of its values, as `ADDRESS:PORT`.
    pub shape: &'static str,
    /// A value that may be set.
    pub example: &'static str,
    /// What it is where it is not set.
    pub default: Option<&'static str>,
    /// Whether its value may hold a password.
    pub secret: bool,
    /// Whether nothing of its value is ever shown. It has no flag: everybody on the machine can read what a program was
    /// started with.
    pub hidden: bool,
    /// What it does.
    pub about: &'static str,
}

const fn setting(
    name: &'static str,
    variable: &'static str,
    shape: &'static str,
    example: &'static str,
    default: Option<&'static str>,
    about: &'static str,
) -> Setting {
    Setting { name, variable, shape, example, default, secret: false, hidden: false, about }
}

/// All settings, in the order in which they are shown.
pub const SETTINGS: &[Setting] = &[
    setting(
        "data",
        "LOGGIA_DATA",
        "DIR",
        "/var/lib/loggia",
        Some("./data"),
        "The folder for event store, read models and NATS.",
    ),
    setting(
        "listen",
        "LOGGIA_LISTEN",
        "ADDR:PORT",
        "0.0.0.0:8080",
        Some("127.0.0.1:8080"),
        "The address that the API listens on; port 0 takes any free one.",
    ),
    setting(
        "public_url",
        "LOGGIA_PUBLIC_URL",
        "URL",
        "https://catalog.example.org",
        None,
        "The public address of the site, used in answers; unset: the listening address.",
    ),
    setting(
        "site_name",
        "LOGGIA_SITE_NAME",
        "TEXT",
        "Casa & Co",
        None,
        "The name of the catalog in titles, citations and feeds; unset: the host name of public_url.",
    ),
    setting(
        "site_tagline",
        "LOGGIA_SITE_TAGLINE",
        "TEXT",
        "Houses and gardens of the north",
        None,
        "One line that says what the catalog is, on the front page, in feeds and at the foot of every page.",
    ),
    setting(
        "site_about",
        "LOGGIA_SITE_ABOUT",
        "TEXT",
        "Two hundred houses, each visited and photographed by us.",
        None,
        "A sentence or two about the catalog, for the front page, search engines and agents.",
    ),
    setting(
        "admin_listen",
        "LOGGIA_ADMIN_LISTEN",
        "ADDR:PORT",
        "127.0.0.1:9090",
        None,
        "The address on which metrics and health are served to operators.",
    ),
    setting(
        "admin_hosts",
        "LOGGIA_ADMIN_HOSTS",
        "HOST,…",
        "node-1.example.org",
        None,
        "Host names that admin_listen answers to, separated by commas, besides localhost and plain addresses.",
    ),
    Setting {
        secret: true,
        ..setting(
            "nats_url",
            "LOGGIA_NATS_URL",
            "URL",
            "nats://10.0.0.5:4222",
            None,
            "The NATS server, or the servers of one cluster separated by commas; unset: a private one is started.",
        )
    },
    setting(
        "nats_creds",
        "LOGGIA_NATS_CREDS",
        "FILE",
        "/etc/loggia/write.nk",
        None,
        "The file with the login for the NATS server: a user's seed (users/ROLE.nk), or a token with its key.",
    ),
    setting(
        "nats_ca",
        "LOGGIA_NATS_CA",
        "FILE",
        "/etc/loggia/ca.pem",
        None,
        "The file with the certificate authorities of the NATS servers; unset: the system's.",
    ),
    setting(
        "nats_replicas",
        "LOGGIA_NATS_REPLICAS",
        "1|3|5",
        "3",
        Some("1"),
        "The number of servers of a NATS cluster that keep each stream: 1, 3 or 5.",
    ),
    setting(
        "nats_server",
        "LOGGIA_NATS_SERVER",
        "FILE",
        "/usr/local/bin/nats-server",
        None,
        "The nats-server program; unset: searched for.",
    ),
    Setting {
        secret: true,
        ..setting(
            "store",
            "LOGGIA_STORE",
            "STORE",
            "sqlite:/srv/loggia/store",
            None,
            "The event store: sqlite:DIR, or esdb://USER:PASSWORD@HOST:PORT?tls=true; unset: SQLite in the data folder.",
        )
    },
    setting(
        "auth",
        "LOGGIA_AUTH",
        "keys|off",
        "off",
        Some("keys"),
        "Who may call: keys; or off, which admits everybody and counts nothing, for trusted networks.",
    ),
    setting(
        "tiers",
        "LOGGIA_TIERS",
        "TIER=CALLS,…",
        "free=200, studio=5000",
        Some("free=200, studio=5000, pro=25000"),
        "The tiers with their calls per UTC calendar month; new keys get the first.",
    ),
    setting(
        "prices",
        "LOGGIA_PRICES",
        "TIER=PRICE: TERMS;…",
        "free=0 EUR: Personal use; studio=29 EUR: Commercial use",
        Some(
            "free=0 EUR: Personal use and evaluation; studio=29 EUR: Commercial use; \
             pro=99 EUR: Commercial use, priority support",
        ),
        "Prices and terms of the tiers, shown on the pricing page.",
    ),
    setting(
        "checkout",
        "LOGGIA_CHECKOUT",
        "TIER=URL,…",
        "studio=https://buy.stripe.com/…",
        None,
        "Payment pages of the tiers, as studio=https://…, pro=https://… (Stripe payment links).",
    ),
    Setting {
        hidden: true,
        ..setting(
            "stripe_secret",
            "LOGGIA_STRIPE_SECRET",
            "SECRET,…",
            "whsec_TheSecretOfTheEndpoint",
            None,
            "The secret that Stripe signs its webhook with (whsec_…), several separated by commas during a change; unset: no webhook.",
        )
    },
    setting(
        "stripe_prices",
        "LOGGIA_STRIPE_PRICES",
        "PRICE=TIER,…",
        "price_123=studio",
        None,
        "The tier of each Stripe price, as price_123=studio, price_456=pro; metadata that name a tier work too.",
    ),
    setting(
        "stripe_mode",
        "LOGGIA_STRIPE_MODE",
        "live|test",
        "test",
        Some("live"),
        "Which Stripe events take effect: live, or test.",
    ),
    setting(
        "metering",
        "LOGGIA_METERING",
        "spool|refuse",
        "refuse",
        Some("spool"),
        "While NATS is unreachable: spool answers and counts afterwards, refuse answers 503.",
    ),
    setting(
        "spool_limit",
        "LOGGIA_SPOOL_LIMIT",
        "SIZE",
        "512MiB",
        Some("2GiB"),
        "The size limit of the spool, as 512MiB or 2GiB; beyond it calls are answered 503.",
    ),
    setting(
        "burst_per_key",
        "LOGGIA_BURST_PER_KEY",
        "CALLS",
        "50",
        Some("20"),
        "Calls per second of one key; 0: no limit.",
    ),
    setting(
        "burst_per_address",
        "LOGGIA_BURST_PER_ADDRESS",
        "CALLS",
        "10",
        Some("20"),
        "Calls per second without a valid key from one IP address; 0: no limit.",
    ),
    setting(
        "keys_per_address",
        "LOGGIA_KEYS_PER_ADDRESS",
        "KEYS",
        "20",
        Some("5"),
        "Keys per hour that one IP address may request over MCP and the form; 0: no limit.",
    ),
    setting(
        "mcp_origins",
        "LOGGIA_MCP_ORIGINS",
        "own|any|ORIGIN,…",
        "https://agent.example.org",
        Some("own"),
        "Origins of web pages that may call /mcp besides the site's own and local ones: own, any, or origins separated by commas.",
    ),
    setting(
        "trusted_proxies",
        "LOGGIA_TRUSTED_PROXIES",
        "NET,…",
        "10.0.0.0/8",
        None,
        "Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is trusted, separated by commas.",
    ),
    setting(
        "secret_file",
        "LOGGIA_SECRET_FILE",
        "FILE",
        "/etc/loggia/vault.key",
        None,
        "The file with the secret of the vault; unset: vault.key in the event store's folder, created when needed.",
    ),
    Setting {
        secret: true,
        ..setting(
            "mail",
            "LOGGIA_MAIL",
            "log:|print:|smtp://…",
            "smtps://USER:PASSWORD@mail.example.org",
            Some("log:"),
            "How mails are sent: by smtp://HOST or smtps://HOST, with USER:PASSWORD@ if needed; print: writes them to the log with \
             address and link; log: sends none and logs the key ids.",
        )
    },
    setting(
        "mail_from",
        "LOGGIA_MAIL_FROM",
        "SENDER",
        "Catalog <mail@example.org>",
        None,
        "The sender of mails, such as Catalog <mail@example.org>; required with a mail server.",
    ),
    setting(
        "contact",
        "LOGGIA_CONTACT",
        "EMAIL|URL",
        "hello@example.org",
        None,
        "How users reach the operator, shown where they may need it: an email address, or the https://… address of a page.",
    ),
    setting(
        "picture_hosts",
        "LOGGIA_PICTURE_HOSTS",
        "HOST,…",
        "images.example.org",
        None,
        "The hosts that pictures may be fetched from, separated by commas; unset: any.",
    ),
    setting(
        "picture_addresses",
        "LOGGIA_PICTURE_ADDRESSES",
        "public|any",
        "any",
        Some("public"),
        "The IP addresses that pictures may be fetched from: public, or any, your own network included.",
    ),
    setting(
        "vectors",
        "LOGGIA_VECTORS",
        "builtin|off|DIR",
        "/srv/models",
        Some("builtin"),
        "The encoder for projects without vectors of their own: builtin, off, or a folder with local models.",
    ),
    Setting {
        secret: true,
        ..setting(
            "snapshot",
            "LOGGIA_SNAPSHOT",
            "DIR|URL",
            "http://TOKEN@10.0.0.7:9090",
            None,
            "What an empty read node starts from: a folder made by loggia snapshot, or http://TOKEN@… with the admin_listen address of \
             another node and the token in its file snapshot.token; unset: the first event.",
        )
    },
    setting(
        "drain",
        "LOGGIA_DRAIN",
        "SECONDS",
        "10s",
        Some("0s"),
        "How long a node that is stopping still serves, not ready, before it ends within 10 s; at most 60s.",
    ),
    setting(
        "clock_offset",
        "LOGGIA_CLOCK_OFFSET",
        "TIME",
        "40d",
        Some("0s"),
        "Sets the clock of this process ahead (40d, 10m) or back (-10m), for rehearsals; 0s in production.",
    ),
    setting(
        "log",
        "LOGGIA_LOG",
        "FILTER",
        "info,loggia=debug",
        Some("warn,loggia=info"),
        "What is logged: a level (error, warn, info, debug, trace, off), and levels of parts, separated by commas; access=info \
         adds a line for each request.",
    ),
    setting(
        "log_format",
        "LOGGIA_LOG_FORMAT",
        "text|json",
        "json",
        Some("text"),
        "The format of the log on standard error: text, or json with one object per line.",
    ),
];

/// What is shown of a value: an address with its password taken out, or nothing.
pub(super) fn shown(setting: &Setting, value: &str) -> String {
    match setting {
        Setting { hidden: true, .. } => "***".to_owned(),
        Setting { secret: true, .. } => hide(value),
        Setting { .. } => value.to_owned(),
    }
}

/// An address, or several with commas, with the passwords taken out.
fn hide(value: &str) -> String {
    if value.contains(',') {
        return value.split(',').map(hide).collect::<Vec<_>>().join(",");
    }
    match (value.find("://"), value.rfind('@')) {
        (Some(scheme), Some(at)) if scheme + 3 <= at => {
            format!("{}***{}", &value[..scheme + 3], &value[at..])
        }
        _ => value.to_owned(),
    }
}

impl Setting {
    /// Its name as a flag, without the hyphens before it.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The text that `--help-settings` shows of it.
    pub fn help(&self) -> String {
        let flag = if self.hidden { String::new() } else { format!("--{} {}, ", self.flag(), self.shape) };
        let default = self.default.map_or_else(|| "unset".to_owned(), |default| format!("default {default}"));
        format!("  {flag}{}\n      {}\n      {default}; example: {}", self.variable, self.about, self.example)
    }
}

/// Returns the name that differs from `name` by a slip: by few letters that are missing, wrong or in the wrong order.
pub fn nearest(name: &str, names: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let distance = |known: &str| strsim::osa_distance(&name, &known.to_ascii_lowercase());
    let (distance, known) = names.map(|known| (distance(known), known)).min()?;
    (distance <= (name.len() / 4).max(1)).then_some(known)
}
