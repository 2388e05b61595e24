//! The tables, and what of them is over its bar.

use std::time::Duration;

use sabir_bench_gateway::verdicts::{Verdicts, ratio};

use crate::case::{GATED, Group, Work};

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

pub(crate) fn head() {
    println!(
        "\n| Work | connections | nginx, CPU µs | Sabir, CPU µs | ratio | bar | nginx, 1/s | Sabir, 1/s | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
}

/// Prints a row for each work of a group.
pub(crate) fn rows(group: &Group, verdicts: &mut Verdicts) {
    let nginx = group.nginx;
    for (work, cost) in &group.works {
        let figure = ratio(cost.cpu, nginx.cpu);
        let (figure, bar) = match group.connections == GATED {
            true => {
                (verdicts.judge(&work.name(), figure, work.bar()), format!("{:.2}", work.bar()))
            }
            false => (format!("{figure:.2}"), String::new()),
        };
        let throughput = cost.per_second() / nginx.per_second();
        let throughput = match is_throughput_gated(*work, group.connections) {
            true => verdicts.judge_least(&format!("{}, throughput", work.name()), throughput, 0.5),
            false => format!("{throughput:.2}"),
        };
        println!(
            "| {} | {} | {:.1} | {:.1} | {figure} | {bar} | {:.0} | {:.0} | {throughput} |",
            work.name(),
            group.connections,
            micros(nginx.cpu),
            micros(cost.cpu),
            nginx.per_second(),
            cost.per_second(),
        );
    }
}

fn is_throughput_gated(work: Work, connections: usize) -> bool {
    let is_small = work.shape == crate::case::Shape::Small;
    connections == GATED && is_small && work.is_main() && work.client == work.upstream
}

/// Whether many connections make a request dearer than some do.
pub(crate) fn flatness(groups: &[Group], verdicts: &mut Verdicts) {
    const FLAT_BAR: f64 = 1.3;
    println!("\n| CPU of a request at 256 connections over 32 | nginx | Sabir | bar |");
    println!("|---|---|---|---|");
    for many in groups.iter().filter(|group| group.connections == 256) {
        for (work, dear) in &many.works {
            let is_same = |group: &&Group| group.connections == GATED;
            let found = groups.iter().filter(is_same).find_map(|group| {
                let (_, cost) = group.works.iter().find(|(other, _)| other == work)?;
                Some((cost, group.nginx))
            });
            let Some((cheap, nginx)) = found else { continue };
            let name = format!("{}, 256 connections over 32", work.name());
            let figure = verdicts.judge(&name, ratio(dear.cpu, cheap.cpu), FLAT_BAR);
            let nginx = ratio(many.nginx.cpu, nginx.cpu);
            println!("| {} | {nginx:.2} | {figure} | {FLAT_BAR} |", work.name());
        }
    }
}
