// `npm run docs -- --count`: the words of each page beside its budget. A test holds every page to its budget.
import { readdirSync, readFileSync } from 'node:fs';

const root = new URL('../../', import.meta.url);

/** Words that a page should have at most. A page without a budget is neither printed nor tested. */
const budgets: Readonly<Record<string, number>> = {
  'README.md': 900,
  'docs/getting-started.md': 800,
  'docs/mailbox-api.md': 600,
  'docs/installing.md': 1_600,
  'docs/upgrading.md': 300,
  'docs/production.md': 400,
  'docs/guard.md': 1_100,
  'docs/notifications.md': 1_260,
  'docs/agencies.md': 500,
  'docs/channels.md': 2_000,
  'docs/runbooks.md': 3_000,
  'docs/operating.md': 1_400,
  'docs/troubleshooting.md': 900,
  'docs/log.md': 1_700,
  'docs/configuration.md': 3_450,
  'docs/cli.md': 2_275,
  'docs/cli-json.md': 3_725,
  'docs/http-api.md': 700,
  'docs/recipes.md': 700,
  'docs/recipe-views.md': 1_050,
  'docs/mcp.md': 600,
  'docs/metrics.md': 1_200,
  'docs/performance.md': 1_300,
  'docs/access.md': 1_300,
  'docs/postgresql.md': 1_600,
  'docs/faults.md': 800,
  'docs/compatibility.md': 400,
  'docs/glossary.md': 300,
};

/** Pages that are only samples of the product's own output: their words are printed, and have no budget. */
const galleries: readonly string[] = ['docs/messages.md'];

export interface PageCount {
  readonly page: string;
  readonly words: number;
  readonly budget: number;
}

/** Number of words with a letter or a digit, code and tables included. */
export const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Pages that exist, in the order of the budgets. */
export function pageCounts(): readonly PageCount[] {
  const present = new Set(['README.md', ...readdirSync(new URL('docs', root)).map((name) => `docs/${name}`)]);
  return Object.entries(budgets)
    .filter(([page]) => present.has(page))
    .map(([page, budget]) => ({ page, words: wordsIn(readFileSync(new URL(page, root), 'utf8')), budget }));
}

/** Texts of the pages with a budget. */
export function pageTexts(): readonly string[] {
  return pageCounts().map(({ page }) => readFileSync(new URL(page, root), 'utf8'));
}

function galleryText(page: string): string {
  const words = wordsIn(readFileSync(new URL(page, root), 'utf8'));
  return `${page.padEnd(26)}${String(words).padStart(8)} generated`;
}

export function countText(counts: readonly PageCount[] = pageCounts()): string {
  const rows = counts.map(({ page, words, budget }) => [page, words, budget, Math.max(0, words - budget)] as const);
  const sum = (column: 1 | 2 | 3) => rows.reduce((total, row) => total + row[column], 0);
  const counted = [['page', 'words', 'budget', 'over'] as const, ...rows, ['all', sum(1), sum(2), sum(3)] as const];
  return [
    ...galleries.map(galleryText),
    ...counted.map(
      ([page, ...figures]) => page.padEnd(26) + figures.map((figure) => String(figure).padStart(8)).join(''),
    ),
  ].join('\n');
}
