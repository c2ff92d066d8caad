//! Layout of the screen: a line on the recording, the pages, the body, the keys.
//!
//! The keys that work are always shown, first the keys of the page, then the keys of all pages.

use super::lines::look;
use super::{App, Screen};
use crate::marks;
use crate::text;
use crate::{Role, Style as Look};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// Minimum rows of a body that shows the selected kernel's verdict below the list.
const WITH_DETAIL: u16 = 12;

pub(super) fn draw(app: &mut App, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.height < 4 || area.width < 20 {
        frame.render_widget(Line::raw("the window is too small"), area);
        return;
    }
    let row = |y: u16| Rect { y, height: 1, ..area };
    let body = Rect { y: area.y + 2, height: area.height - 3, ..area };
    app.rows = usize::from(body.height);
    frame.render_widget(head(app, usize::from(area.width)), row(area.y));
    frame.render_widget(tabs(app), row(area.y + 1));
    match app.screen {
        Screen::Kernels => kernels(app, frame, body),
        _ => view(app, frame, body),
    }
    frame.render_widget(keys(app, usize::from(area.width)), row(area.y + area.height - 1));
}

/// `vcopy/MI200 · MI200 (gfx90a) · 3 dispatches · 52.3 us · only copy<float>`.
fn head(app: &App, width: usize) -> Line<'static> {
    let mut parts = Vec::new();
    let report = &app.data.report;
    if let Some((input, recording)) = report.inputs.last().and_then(|it| Some((it, it.recording.as_ref()?))) {
        parts.push(input.path.clone());
        parts.push(
            report.part.guide.as_ref().map_or_else(|| recording.gpu.clone(), |guide| guide.gpu.clone()),
        );
        parts.push(view::counted(recording.dispatches, "dispatch"));
        let time = recording.time_ns.get().map(view::duration);
        parts.extend(time.map(|time| marks::signed(recording.time_trust, time)));
    }
    let chosen = app.data.chosen.and_then(|at| app.data.kernels.get(at));
    let name = chosen.map(|it| format!("only {}", text::shorten(&it.kernel.name, (width / 2).max(20))));
    let mut spans = Vec::new();
    let reserved = name.as_ref().map_or(0, |name| text::display_width(name) + 3);
    let mut left = parts.join(" · ");
    let room = width.saturating_sub(reserved);
    if text::display_width(&left) > room {
        // The end of a path says more than its beginning.
        let skip = text::display_width(&left) - room + 1;
        left = format!("…{}", left.chars().skip(skip).collect::<String>());
    }
    spans.push(Span::styled(text::visible(&left).into_owned(), look(Role::Heading, app.color)));
    if let Some(name) = name {
        spans.push(Span::raw(" · "));
        spans.push(Span::styled(text::visible(&name).into_owned(), look(Role::Info, app.color)));
    }
    Line::from(spans)
}

fn tabs(app: &App) -> Line<'static> {
    let mut spans = Vec::new();
    for (index, screen) in Screen::NUMBERED.into_iter().enumerate() {
        let label = format!(" {} {} ", index + 1, screen.title());
        let style = if screen == app.screen {
            Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD)
        } else {
            Style::new()
        };
        spans.push(Span::styled(label, style));
        spans.push(Span::raw(" "));
    }
    Line::from(spans)
}

fn view(app: &mut App, frame: &mut Frame<'_>, body: Rect) {
    let (width, rows) = (usize::from(body.width), usize::from(body.height));
    // The last column says how far down it is.
    app.prepare(width.saturating_sub(1));
    let cursor = (app.screen == Screen::Code)
        .then(|| {
            let at = app.instruction;
            app.view().line_of(at)
        })
        .flatten();
    let view = app.view();
    view.clamp(rows);
    let left = u16::try_from(view.left).unwrap_or(u16::MAX);
    let marked = cursor.or(view.found);
    for (y, line) in view.lines.iter().enumerate().skip(view.top).take(rows) {
        let at = Rect { y: body.y + (y - view.top) as u16, height: 1, ..body };
        let mut line = line.clone();
        if marked == Some(y) {
            line = line.style(Style::new().add_modifier(Modifier::REVERSED));
        }
        frame.render_widget(ratatui::widgets::Paragraph::new(line).scroll((0, left)), at);
    }
    // How far down it is, where not everything is seen.
    let (top, all) = (view.top, view.lines.len());
    if all > rows {
        let track = (rows as f64 * top as f64 / (all - rows) as f64).round() as usize;
        let y = body.y + track.min(rows - 1) as u16;
        let x = body.x + body.width - 1;
        frame.buffer_mut()[(x, y)].set_symbol("┃").set_style(look(Role::Info, app.color));
    }
}

fn kernels(app: &mut App, frame: &mut Frame<'_>, body: Rect) {
    let below = if body.height >= WITH_DETAIL { body.height / 2 } else { 0 };
    let list = Rect { height: body.height - below, ..body };
    app.rows = usize::from(list.height).saturating_sub(1);
    for (y, line) in
        app.kernel_rows(usize::from(list.width), usize::from(list.height)).into_iter().enumerate()
    {
        frame.render_widget(line, Rect { y: list.y + y as u16, height: 1, ..list });
    }
    if below == 0 {
        return;
    }
    let Some(entry) = app.data.kernels.get(app.row) else { return };
    let findings: Vec<_> = app.data.findings.iter().filter(|f| f.kernel() == entry.kernel.name).collect();
    let style = Look { width: usize::from(body.width), color: true, full_names: false };
    let text = text::kernel(&entry.kernel, entry.verdict.as_ref(), &findings, &style);
    let mut detail = super::lines::View::default();
    detail.set(&text, Vec::new(), usize::from(body.width), app.color);
    let rule = Line::styled("─".repeat(usize::from(body.width)), look(Role::Dim, app.color));
    let y = body.y + list.height;
    frame.render_widget(rule, Rect { y, height: 1, ..body });
    for (at, line) in detail.lines.into_iter().take(usize::from(below) - 1).enumerate() {
        frame.render_widget(line, Rect { y: y + 1 + at as u16, height: 1, ..body });
    }
}

fn keys(app: &App, width: usize) -> Line<'static> {
    if app.search.typing {
        return Line::from(vec![
            Span::styled("/", look(Role::Strong, app.color)),
            Span::raw(app.search.text.clone()),
            Span::styled("▏", look(Role::Info, app.color)),
            Span::styled("  ⏎ search  Esc leave", look(Role::Dim, app.color)),
        ]);
    }
    if !app.message.is_empty() {
        return Line::styled(text::visible(&app.message).into_owned(), look(Role::Warning, app.color));
    }
    if app.screen == Screen::Code
        && let Some(note) = app.finding_here()
    {
        return Line::styled(text::visible(&note).into_owned(), look(Role::Warning, app.color));
    }
    let back = match app.screen {
        Screen::Help => "Esc back  ",
        _ if app.data.chosen.is_some() => "Esc all kernels  ",
        _ => "",
    };
    let own = app.screen.keys();
    let (long, short) = ("↑↓ PgUp PgDn  / search  r reload  ? help  q quit", "↑↓  / search  ? help  q quit");
    let fits = text::display_width(own) + text::display_width(back) + text::display_width(long) <= width;
    let text = format!("{own}{back}{}", if fits { long } else { short });
    Line::styled(text, look(Role::Dim, app.color))
}

impl App {
    /// Finding of the rules on the instruction under the cursor.
    fn finding_here(&self) -> Option<String> {
        let super::Code::Listings(all) = &self.data.code else { return None };
        let mut at = self.instruction;
        for (listing, findings) in all {
            if let Some(line) = listing.lines.get(at) {
                let rule = line.findings.first()?;
                let finding = findings.iter().find(|finding| finding.rule == *rule)?;
                return Some(format!("{rule}: {}", finding.message));
            }
            at -= listing.lines.len();
        }
        None
    }
}
