//! Which columns are for the members of a record.

use regex::Regex;

use crate::date::{DayForm, YearOf, day};
use crate::member::Member;
use crate::people;

use super::column::{
    Column, is_address, is_dated, is_for_machines, is_midnight, is_new_year, is_plain_year, is_serial_day,
};
use super::concepts::{Concept, MAKERS};
use super::draft::{Draft, Line};
use super::files_beside::FilesBeside;
use super::kinds;
use super::qualifiers::is_qualifier;
use super::sample::short;
use super::scores::{CREDITS, Guess, LIKELY, SURE};

/// The columns of a sample with what they may be about.
pub(crate) struct Columns<'a> {
    pub(crate) columns: &'a [Column],
    pub(crate) guesses: Vec<Vec<Guess>>,
    /// The files among which the pictures may be.
    pub(crate) files: Option<&'a FilesBeside>,
}

impl Columns<'_> {
    /// Returns the columns that are most likely about this, the likeliest first, in the order of the file where they are equal.
    pub(crate) fn about(&self, concept: Concept) -> Vec<(usize, &Guess)> {
        let mut found: Vec<(usize, &Guess)> = self
            .guesses
            .iter()
            .enumerate()
            .filter_map(|(number, guesses)| {
                let top = guesses.first()?.score();
                let guess = guesses.iter().find(|guess| guess.concept == concept)?;
                (guess.score() >= LIKELY && guess.score() == top).then_some((number, guess))
            })
            .collect();
        found.sort_by_key(|(_, guess)| std::cmp::Reverse(guess.score()));
        found
    }

    /// Returns the best column of a concept that nothing else uses.
    fn best(&self, draft: &Draft, concept: Concept) -> Option<(usize, &Guess)> {
        self.about(concept).into_iter().find(|(number, _)| !draft.has(*number))
    }

    /// Adds all members.
    pub(crate) fn members(&self, draft: &mut Draft) {
        self.id(draft);
        // Before the name, for which the same column may stand.
        self.category(draft);
        self.name(draft);
        self.studio(draft);
        self.year(draft);
        self.city(draft);
        self.texts(draft);
        self.url(draft);
        for (concept, member) in [(Concept::Material, "taste.material"), (Concept::Subject, "taste.subject")]
        {
            if let Some((number, guess)) = self.best(draft, concept) {
                draft.record.push(Line::of(member, number, guess).split_at_bars(self.columns));
            }
        }
        if let Some((number, guess)) = self.best(draft, Concept::Acquired) {
            let line = Line::of("provenance.in_archive_since", number, guess);
            draft.record.push(self.with_serial_days(line, number));
        }
        for (concept, member) in
            [(Concept::Published, "published"), (Concept::Selected, "provenance.selected")]
        {
            if let Some((number, guess)) = self.best(draft, concept) {
                draft.record.push(self.with_day(Line::of(member, number, guess), number));
            }
        }
        draft.record.sort_by_key(|line| Member::names().position(|name| name == line.key));
    }

    /// The key of a record: unique, on every record, and the one that occurs in its address where two are.
    fn id(&self, draft: &mut Draft) {
        let keys = self.about(Concept::Id).into_iter().chain(self.about(Concept::Accession));
        let mut best: Option<(usize, &Guess, u32)> = None;
        for (number, guess) in keys {
            let column = &self.columns[number];
            if !column.is_unique() || column.is_list || column.fill() < 0.8 {
                continue;
            }
            let score = guess.score() + if self.is_in_addresses(column) { 50 } else { 0 };
            // Of two names of one key, the fuller one.
            let repeats = best.is_some_and(|(other, ..)| {
                self.columns[other].cells == column.cells
                    && self.columns[other].words.len() < column.words.len()
            });
            if repeats || best.is_none_or(|(_, _, most)| score > most) {
                best = Some((number, guess, score));
            }
        }
        if let Some((number, guess, _)) = best {
            let mut line = Line::of("id", number, guess);
            line.reason += ", every value differs";
            if self.is_in_addresses(&self.columns[number]) {
                line.reason += ", and it is in the record's own address";
            }
            draft.record.push(line);
        }
    }

    fn is_in_addresses(&self, key: &Column) -> bool {
        let holds = |address: &str, key: &str| {
            let (address, key) = (address.to_lowercase(), key.to_lowercase());
            address.match_indices(&key).any(|(at, _)| {
                let is_end =
                    |character: Option<char>| character.is_none_or(|character| !character.is_alphanumeric());
                is_end(address[..at].chars().next_back()) && is_end(address[at + key.len()..].chars().next())
            })
        };
        self.about(Concept::Url).iter().any(|(number, _)| {
            let pairs = key.cells.iter().zip(&self.columns[*number].cells);
            let both: Vec<_> =
                pairs.filter_map(|(key, address)| Some((key.first()?, address.first()?))).collect();
            let held = both.iter().filter(|(key, address)| holds(address, key)).count();
            both.len() > 1 && held * 10 >= both.len() * 9
        })
    }

    /// The title, and what stands for it where it is absent. A title that another one contains is the bare one.
    fn name(&self, draft: &mut Draft) {
        let mut titles: Vec<(usize, &Guess)> = Vec::new();
        for (number, guess) in self.about(Concept::Title) {
            let column = &self.columns[number];
            if titles.iter().any(|(other, _)| self.columns[*other].cells == column.cells) {
                draft.ignore(number, "it repeats the title");
            } else if !draft.has(number) {
                titles.push((number, guess));
            }
        }
        let Some(&(first, guess)) = titles.first() else {
            let considered: Vec<String> = self.considered(&["title", "name", "titel", "titre"]);
            draft.missing.insert(0, match considered.is_empty() {
                true => "No column is for name: none is called title or name in a language that is known, and has texts that differ; write name = \"COLUMN\" in [record].".to_owned(),
                false => format!("No column is for name; considered were {}. Write name = \"COLUMN\" in [record].", considered.join(", ")),
            });
            return;
        };
        for (number, _) in titles.iter().skip(1) {
            if self.columns[*number].has_word(&["bildtitel"]) {
                draft.ignore(*number, "a title of the picture");
            }
        }
        let mut line = Line::of("name", first, guess);
        let bare = titles.iter().find(|(number, _)| self.is_within(*number, first));
        if let Some((number, _)) = bare {
            line.columns.insert(0, *number);
        }
        let is_full = |columns: &[usize]| {
            (0..self.columns[first].cells.len())
                .all(|record| columns.iter().any(|number| !self.columns[*number].cells[record].is_empty()))
        };
        // Where titles are made of the type, the bare one and the date, the type is what is left of them.
        let kind = draft.member("category").map(|line| line.columns[0]).filter(|number| {
            bare.is_some() && (self.is_within(*number, first) || self.columns[*number].has_word(&["type"]))
        });
        // The name of an object may be its kind too.
        let is_name = |guess: &Guess| guess.concept == Concept::ObjectName && guess.score() >= LIKELY;
        let names = (0..self.columns.len()).filter(|number| self.guesses[*number].iter().any(is_name));
        let mut names = names.filter(|number| !draft.has(*number) && self.columns[*number].fill() > 0.5);
        let stands_in = names.next().filter(|_| !is_full(&line.columns)).or(kind);
        line.columns.extend(stands_in);
        line.is_first_of = line.columns.len() > 1;
        draft.record.push(line.split_at_bars(self.columns));
    }

    /// Returns whether the texts of a column are parts of those of another.
    fn is_within(&self, part: usize, whole: usize) -> bool {
        let pairs = self.columns[part].cells.iter().zip(&self.columns[whole].cells);
        let both: Vec<_> = pairs.filter_map(|(part, whole)| Some((part.first()?, whole.first()?))).collect();
        let within = both
            .iter()
            .filter(|(part, whole)| part.len() < whole.len() && whole.contains(part.as_str()))
            .count();
        part != whole && !both.is_empty() && within * 10 >= both.len() * 7
    }

    fn studio(&self, draft: &mut Draft) {
        let makers = self.about(Concept::Maker);
        // A photographer is the maker where nobody else is.
        let photographers = self.about(Concept::Photographer);
        let photographers =
            photographers.into_iter().filter(|(number, _)| !self.columns[*number].has_word(&CREDITS));
        let free = |(number, _): &(usize, &Guess)| !draft.has(*number);
        let Some((number, guess)) =
            makers.into_iter().find(free).or_else(|| photographers.into_iter().find(free))
        else {
            return;
        };
        let readable = self.readable(draft, number);
        let mut line = Line::of("studio", readable, guess).split_at_bars(self.columns);
        if readable != number {
            line.reason += &format!("; the makers of {} as they are read", self.columns[number].name);
        }
        let number = readable;
        let column = &self.columns[number];
        let has = |text: &str| column.texts().any(|cell| cell.contains(text));
        let separator = match line.keys.is_empty() {
            false => Some("|"),
            true if has(" (https://www.notion.so/") => Some(", "),
            true if has("; ") => Some("; "),
            true if has(";") => Some(";"),
            true => None,
        };
        if let (true, Some(separator)) = (line.keys.is_empty(), separator) {
            line = line.with("split", format!("{separator:?}"));
        }
        let names: Vec<&str> =
            column.texts().flat_map(|cell| cell.split(separator.unwrap_or("\0"))).map(str::trim).collect();
        let share = |is_so: &dyn Fn(&str) -> bool| {
            names.iter().filter(|name| is_so(name)).count() as f64 / names.len().max(1) as f64
        };
        let dates = Regex::new(r", *(b\. |born )?\d{4} *[-–]? *(\d{4})?\.?$").ok();
        let without_dates =
            |name: &str| dates.as_ref().map_or(name.to_owned(), |dates| dates.replace(name, "").into_owned());
        if has(" (https://www.notion.so/") {
            line = line.with("cut", r"' \(https://[^()]*\)$'");
        } else if share(&|name| name.ends_with(')') && name.contains(|digit: char| digit.is_ascii_digit()))
            > 0.4
        {
            line = line.with("cut", r"' \([^()]*\)$'");
        } else if share(&|name| without_dates(name) != name) > 0.4 {
            line = line.with("cut", r"', *(b\. |born )?\d{4} *[-–]? *(\d{4})?\.?$'");
        }
        let is_inverted = |name: &str| {
            let name = without_dates(name);
            let first = name.split_once(", ").map(|(_, first)| first).unwrap_or_default();
            people::turned_round(&name) != name && first.split(' ').count() <= 3
        };
        if share(&is_inverted) >= 0.5 {
            line = line.with("invert", "true");
        }
        // A linked name with a comma in it is in quotes.
        if column.texts().any(|text| text.contains('"')) {
            line = line.with("replace", "{ '\"' = \"\" }");
        }
        let line = self.qualified(line);
        draft.record.push(line);
        for other in (0..self.columns.len()).filter(|other| self.is_other_form(number, *other)) {
            draft.ignore(other, format!("another form of the makers of {}", column.name));
        }
        for (other, _) in self.about(Concept::Maker) {
            let is_same = |word: &String| MAKERS.contains(&word.as_str()) && column.words.contains(word);
            let repeats = self.are_same_people(number, other);
            if repeats || self.columns[other].words.iter().any(is_same) {
                draft.ignore(other, format!("another form of the makers of {}", column.name));
            }
        }
    }

    /// Adds the qualifiers before names, if a column has any.
    fn qualified(&self, mut line: Line) -> Line {
        for (number, _) in self.about(Concept::Qualifier) {
            let column = &self.columns[number];
            let parts = column.texts().flat_map(|text| text.split('|')).map(str::trim);
            let found: Vec<&str> = parts.filter(|part| is_qualifier(part)).collect();
            if found.is_empty() {
                continue;
            }
            line.qualifier = Some(number);
            if column.has_word(&["role", "roles"]) {
                let mut before: Vec<String> = found.iter().map(|text| text.to_lowercase()).collect();
                before.extend(["after", "attributed to"].map(str::to_owned));
                before.sort();
                before.dedup();
                line = line.with("before", format!("{before:?}"));
            }
            return line;
        }
        line
    }

    /// The date: where a plain year stands beside a text with ranges or “c.”, the text.
    fn year(&self, draft: &mut Draft) {
        let dates: Vec<_> =
            self.about(Concept::Date).into_iter().filter(|(number, _)| !draft.has(*number)).collect();
        let unsure = |number: usize| {
            self.columns[number].share(|text| is_dated(text) && YearOf::Sure.find(text).is_none())
        };
        let best = dates.first().copied();
        let text = dates.iter().copied().filter(|(number, guess)| {
            unsure(*number) > 0.05 && best.is_some_and(|(_, best)| guess.score() + 35 >= best.score())
        });
        let text = text.max_by(|(a, _), (b, _)| unsure(*a).total_cmp(&unsure(*b)));
        let is_plain = best.is_some_and(|(number, _)| {
            self.columns[number].share(is_plain_year) > 0.9 || unsure(number) < 0.01
        });
        let Some((number, guess)) = text.filter(|_| is_plain).or(best) else { return };
        let column = &self.columns[number];
        let has_serials = column.has_serial_days();
        let line = Line::of("year", number, guess).split_at_bars(self.columns);
        let mut detail = Line { key: "Date".into(), ..line.clone() };
        if !detail.keys.is_empty() {
            detail = detail.with("join", "\"; \"");
        }
        if has_serials {
            detail = self.with_serial_days(detail, number);
        } else if column.texts().any(is_midnight) {
            detail = detail.with("cut", "'[ T]00:00:00.*$'");
        }
        let mut line = self.with_serial_days(line, number);
        let is_read = |text: &str| YearOf::Sure.find(text).is_some() || has_serials && is_serial_day(text);
        if !column.texts().all(is_read) {
            line.reason += "; what is not surely one year stays a text in the detail";
        }
        for (other, _) in dates {
            if other != number && self.columns[other].share(is_plain_year) > 0.9 {
                draft.ignore(other, format!("{} says when, and with more care", column.name));
            }
        }
        draft.record.push(line);
        // A year that a spreadsheet program keeps as its first day is not known to the day.
        let are_years = column.texts().all(|text| is_plain_year(text) || is_new_year(text));
        if !are_years || !column.texts().any(is_new_year) {
            draft.details.push(detail.with("unless", "\"year\""));
        }
    }

    /// Adds that numbers of days are read, if a column has some and no other numbers than years.
    pub(crate) fn with_serial_days(&self, mut line: Line, number: usize) -> Line {
        let column = &self.columns[number];
        let serial = column.texts().find(|text| is_serial_day(text)).filter(|_| column.has_serial_days());
        let Some((serial, day)) = serial.and_then(|text| Some((text, day(text, DayForm::Excel)?))) else {
            return line;
        };
        line.score = line.score.min(SURE - 1);
        line.reason +=
            &format!("; numbers such as {serial} are taken for days of a spreadsheet, that one for {day}");
        line.with("date", "\"excel\"")
    }

    fn category(&self, draft: &mut Draft) {
        let known = |number: usize| {
            self.columns[number].share(|text| text.split('|').any(|part| kinds::category(part).is_some()))
        };
        let mut columns: Vec<(usize, &Guess, f64)> = Vec::new();
        for (number, guesses) in self.guesses.iter().enumerate() {
            let guess =
                guesses.iter().find(|guess| guess.concept == Concept::Category && guess.score() >= LIKELY);
            let is_rival = guesses.first().is_some_and(|best| {
                matches!(
                    best.concept,
                    Concept::Material | Concept::Title | Concept::Maker | Concept::Private | Concept::Subject
                ) && guess.is_some_and(|guess| guess.score() < best.score())
            });
            columns.extend(
                guess.filter(|_| !is_rival && !draft.has(number)).map(|guess| (number, guess, known(number))),
            );
        }
        columns.sort_by(|(a_number, a, a_known), (b_number, b, b_known)| {
            let score = |guess: &Guess, known: f64| f64::from(guess.score()) + known * 30.0;
            // A classification is coarser than the name of an object.
            let fine = |number: usize| u32::from(self.columns[number].words == ["object", "name"]);
            score(b, *b_known).total_cmp(&score(a, *a_known)).then(fine(*a_number).cmp(&fine(*b_number)))
        });
        let Some(&(number, guess, _)) = columns.iter().find(|(_, _, known)| *known > 0.0) else {
            let considered: Vec<String> = match columns.is_empty() {
                false => columns.iter().map(|(number, ..)| self.why_not(*number)).collect(),
                true => self.considered(&["type", "kind", "classification", "department", "category"]),
            };
            draft.missing.push(match considered.is_empty() {
                true => "No column is for category: none has between 2 and 60 kinds of works. Write category = { value = \"art\" } in [record], or architecture, interiors, design or photography.".to_owned(),
                false => format!("No column is for category; considered were {}. Write category = {{ value = \"art\" }} in [record], or architecture, interiors, design or photography.", considered.join(", ")),
            });
            return;
        };
        let line = Line::of("category", number, guess).split_at_bars(self.columns);
        for (text, count) in &self.columns[number].counts {
            let parts: Vec<&str> =
                if line.keys.is_empty() { vec![text] } else { text.split('|').take(1).collect() };
            for part in parts.iter().map(|part| part.trim().to_lowercase()).filter(|part| !part.is_empty()) {
                match draft.kinds.iter_mut().find(|(kind, ..)| *kind == part) {
                    Some((_, so_far, _)) => *so_far += count,
                    None => draft.kinds.push((part.clone(), *count, kinds::category(&part))),
                }
            }
        }
        draft.record.push(line.with("table", "\"kinds\""));
    }

    /// Returns the columns whose names have one of these words, each with the reason against it.
    fn considered(&self, words: &[&str]) -> Vec<String> {
        let numbers = (0..self.columns.len()).filter(|number| self.columns[*number].has_word(words));
        numbers.take(5).map(|number| self.why_not(number)).collect()
    }

    fn why_not(&self, number: usize) -> String {
        let column = &self.columns[number];
        let why = match column.counts.first() {
            None => "it is empty".to_owned(),
            Some((value, _)) if column.counts.len() == 1 => {
                format!("all its values are “{}”", short(value))
            }
            Some((value, _)) => {
                format!("it has {} different values such as “{}”", column.counts.len(), short(value))
            }
        };
        format!("“{}” ({why})", column.name)
    }

    fn texts(&self, draft: &mut Draft) {
        let is_open = |number: usize| {
            self.columns[number]
                .has_word(&["text", "content", "texte", "tekst", "texto", "testo", "inhalt", "body"])
        };
        let mut descriptions = Vec::new();
        let mut intros = self.about(Concept::Intro);
        for (number, guess) in self.about(Concept::Description) {
            if is_open(number) && self.columns[number].average_length() < 200.0 && intros.is_empty() {
                intros.push((number, guess));
            } else {
                descriptions.push((number, guess));
            }
        }
        if let Some((number, guess)) = intros.into_iter().find(|(number, _)| !draft.has(*number)) {
            draft.record.push(Line::of("intro", number, guess));
        }
        descriptions.retain(|(number, _)| !draft.has(*number));
        descriptions.sort_by(|(a, _), (b, _)| self.columns[*b].filled.cmp(&self.columns[*a].filled));
        if let Some(&(number, guess)) = descriptions.first() {
            let mut line = Line::of("description", number, guess);
            line.columns.extend(descriptions.iter().skip(1).take(2).map(|(number, _)| *number));
            line.is_first_of = line.columns.len() > 1;
            draft.record.push(line);
        }
    }

    fn url(&self, draft: &mut Draft) {
        let mut found = self.about(Concept::Url);
        found.retain(|(number, _)| !draft.has(*number));
        // An address of data only where there is none of a page.
        found.sort_by_key(|(number, _)| self.columns[*number].share(is_for_machines) >= 0.5);
        let Some(&(number, guess)) = found.first() else { return };
        let mut line = Line::of("url", number, guess).split_at_bars(self.columns);
        if self.columns[number].share(|text| is_address(text) && !text.contains("://")) > 0.5 {
            line = line.with("scheme", "\"https\"");
        }
        draft.record.push(line);
    }

    /// Adds how its days are written, if that is not read by itself.
    fn with_day(&self, line: Line, number: usize) -> Line {
        let column = &self.columns[number];
        if column.share(is_serial_day) > 0.8 {
            return line.with("date", "\"excel\"");
        }
        let part = |text: &str, separator: char, at: usize| -> Option<u32> {
            text.split(' ').next()?.split(separator).nth(at)?.parse().ok()
        };
        let points = column.share(|text| part(text, '.', 0).is_some() && part(text, '.', 2).is_some());
        let slashes = column.share(|text| part(text, '/', 0).is_some() && part(text, '/', 2).is_some());
        let above_12 = |at| column.texts().any(|text| part(text, '/', at).is_some_and(|number| number > 12));
        match (points > 0.5, slashes > 0.5, above_12(0), above_12(1)) {
            (true, ..) => line.with("date", "\"d.m.y\""),
            (_, true, true, false) => line.with("date", "\"d/m/y\""),
            (_, true, false, true) => line.with("date", "\"m/d/y\""),
            _ => line,
        }
    }
}
