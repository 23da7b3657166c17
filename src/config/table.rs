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
        "The folder that holds the event store, the read models and NATS.",
    ),
    setting(
        "listen",
        "LOGGIA_LISTEN",
        "ADDR:PORT",
        "0.0.0.0:8080",
        Some("127.0.0.1:8080"),
        "Where the API listens; port 0 takes any free one.",
    ),
    setting(
        "public_url",
        "LOGGIA_PUBLIC_URL",
        "URL",
        "https://catalog.example.org",
        None,
        "The site's own address in answers; unset: the listening address.",
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
        "Where metrics and health are served for operators.",
    ),
    setting(
        "admin_hosts",
        "LOGGIA_ADMIN_HOSTS",
        "HOST,…",
        "node-1.example.org",
        None,
        "Names by which admin_listen may be asked, with commas, beside localhost and plain addresses.",
    ),
    Setting {
        secret: true,
        ..setting(
            "nats_url",
            "LOGGIA_NATS_URL",
            "URL",
            "nats://10.0.0.5:4222",
            None,
            "The NATS server, or those of one cluster with commas; unset: a private one is started.",
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
        "The file with the certificates that those of the NATS servers are signed by; unset: the system's.",
    ),
    setting(
        "nats_replicas",
        "LOGGIA_NATS_REPLICAS",
        "1|3|5",
        "3",
        Some("1"),
        "On how many servers of a NATS cluster every stream is kept: 1, 3 or 5.",
    ),
    setting(
        "nats_server",
        "LOGGIA_NATS_SERVER",
        "FILE",
        "/usr/local/bin/nats-server",
        None,
        "The nats-server program; unset: it is looked for.",
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
        "Who may call: keys, or off, which lets everybody in and counts nothing, for trusted networks.",
    ),
    setting(
        "tiers",
        "LOGGIA_TIERS",
        "TIER=CALLS,…",
        "free=200, studio=5000",
        Some("free=200, studio=5000, pro=25000"),
        "The tiers and how many calls each allows in a UTC calendar month; new keys have the first.",
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
        "What the tiers cost in a month and are for, as the pricing page tells it.",
    ),
    setting(
        "checkout",
        "LOGGIA_CHECKOUT",
        "TIER=URL,…",
        "studio=https://buy.stripe.com/…",
        None,
        "Where tiers are paid, as studio=https://…, pro=https://… (payment links of Stripe).",
    ),
    Setting {
        hidden: true,
        ..setting(
            "stripe_secret",
            "LOGGIA_STRIPE_SECRET",
            "SECRET,…",
            "whsec_TheSecretOfTheEndpoint",
            None,
            "What Stripe signs its webhook with (whsec_…), several with commas while it changes; unset: no webhook.",
        )
    },
    setting(
        "stripe_prices",
        "LOGGIA_STRIPE_PRICES",
        "PRICE=TIER,…",
        "price_123=studio",
        None,
        "Which of Stripe's prices is which tier, as price_123=studio, price_456=pro; metadata with a tier will do too.",
    ),
    setting(
        "stripe_mode",
        "LOGGIA_STRIPE_MODE",
        "live|test",
        "test",
        Some("live"),
        "Which of Stripe's events have an effect: live, or test.",
    ),
    setting(
        "metering",
        "LOGGIA_METERING",
        "spool|refuse",
        "refuse",
        Some("spool"),
        "While NATS is away: spool answers from what is left and counts afterwards, refuse answers 503.",
    ),
    setting(
        "spool_limit",
        "LOGGIA_SPOOL_LIMIT",
        "SIZE",
        "512MiB",
        Some("2GiB"),
        "How large the spool may grow while NATS is away, as 512MiB or 2GiB; further calls are answered 503.",
    ),
    setting(
        "burst_per_key",
        "LOGGIA_BURST_PER_KEY",
        "CALLS",
        "50",
        Some("20"),
        "Calls of one key in a second; 0: no limit.",
    ),
    setting(
        "burst_per_address",
        "LOGGIA_BURST_PER_ADDRESS",
        "CALLS",
        "10",
        Some("20"),
        "Calls without a valid key of one address in a second; 0: no limit.",
    ),
    setting(
        "keys_per_address",
        "LOGGIA_KEYS_PER_ADDRESS",
        "KEYS",
        "20",
        Some("5"),
        "Keys that one address may ask for in an hour over MCP and the form; 0: no limit.",
    ),
    setting(
        "mcp_origins",
        "LOGGIA_MCP_ORIGINS",
        "own|any|ORIGIN,…",
        "https://agent.example.org",
        Some("own"),
        "Web pages that may speak to /mcp beside the site's own and the machine's: own, any, or origins with commas.",
    ),
    setting(
        "trusted_proxies",
        "LOGGIA_TRUSTED_PROXIES",
        "NET,…",
        "10.0.0.0/8",
        None,
        "Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For is believed, with commas.",
    ),
    setting(
        "secret_file",
        "LOGGIA_SECRET_FILE",
        "FILE",
        "/etc/loggia/vault.key",
        None,
        "The file with the secret of the vault; unset: vault.key in the event store's folder, made at need.",
    ),
    Setting {
        secret: true,
        ..setting(
            "mail",
            "LOGGIA_MAIL",
            "log:|print:|smtp://…",
            "smtps://USER:PASSWORD@mail.example.org",
            Some("log:"),
            "How mails leave: smtp://HOST or smtps://HOST, with USER:PASSWORD@ at need; print:, into the log with address \
             and link; log:, not at all, and the log names the keys.",
        )
    },
    setting(
        "mail_from",
        "LOGGIA_MAIL_FROM",
        "SENDER",
        "Catalog <mail@example.org>",
        None,
        "Whom mails are from, such as Catalog <mail@example.org>; a mail server needs it.",
    ),
    setting(
        "contact",
        "LOGGIA_CONTACT",
        "EMAIL|URL",
        "hello@example.org",
        None,
        "How people reach the operator: an email address, or https://… of a page; pages that need it name it.",
    ),
    setting(
        "picture_hosts",
        "LOGGIA_PICTURE_HOSTS",
        "HOST,…",
        "images.example.org",
        None,
        "The hosts that pictures may be fetched from, with commas; unset: any.",
    ),
    setting(
        "picture_addresses",
        "LOGGIA_PICTURE_ADDRESSES",
        "public|any",
        "any",
        Some("public"),
        "Where pictures may be fetched from: public addresses, or any, the operator's own network included.",
    ),
    setting(
        "vectors",
        "LOGGIA_VECTORS",
        "builtin|off|DIR",
        "/srv/models",
        Some("builtin"),
        "What makes the vectors of projects that bring none: builtin, off, or a folder with local models.",
    ),
    Setting {
        secret: true,
        ..setting(
            "snapshot",
            "LOGGIA_SNAPSHOT",
            "DIR|URL",
            "http://TOKEN@10.0.0.7:9090",
            None,
            "What an empty read node begins with: a folder by loggia snapshot, or http://TOKEN@… of another node's \
             admin_listen, with what is in its file snapshot.token; unset: the first event.",
        )
    },
    setting(
        "drain",
        "LOGGIA_DRAIN",
        "SECONDS",
        "10s",
        Some("0s"),
        "How long a node that was told to stop still serves, not ready, before it stops within 10 s; at most 60s.",
    ),
    setting(
        "clock_offset",
        "LOGGIA_CLOCK_OFFSET",
        "TIME",
        "40d",
        Some("0s"),
        "How far the clock of this process is set ahead (40d, 10m) or back (-10m), for rehearsals; 0s where calls are real.",
    ),
    setting(
        "log",
        "LOGGIA_LOG",
        "FILTER",
        "info,loggia=debug",
        Some("warn,loggia=info"),
        "What is logged: a level (error, warn, info, debug, trace, off), and levels of parts, with commas; access=info adds a \
         line for each request.",
    ),
    setting(
        "log_format",
        "LOGGIA_LOG_FORMAT",
        "text|json",
        "json",
        Some("text"),
        "How the log is written to standard error: text, or json with one object a line.",
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
