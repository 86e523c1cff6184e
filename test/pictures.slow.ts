// docs/pictures: what a day of the demo's fleet looks like. The words in them are those that the page has today;
// `npm run pictures` takes the pictures again (it needs Chromium; CHROMIUM names another one).
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { hourMs, secondMs } from '../src/core/time.ts';
import { scenarios } from '../tools/simulator/scenarios.ts';
import { startMovedDaemon } from './scenario/moved-daemon.ts';
import { poll } from './scenario/three-domains.ts';

const folder = new URL('../docs/pictures/', import.meta.url).pathname;
const takesPictures = process.env['WARMWARDEN_PICTURES'] === 'take';

/** Width and height in pixels, as the README shows them. */
const size = '1100,760';

/** The texts of a page one a line, without what is folded away. Numbers are masked: they depend on the hour. */
function wordsOf(page: string): string {
  const body = page.slice(page.indexOf('<main'));
  const open = body.replace(/<\/summary>.*?<\/details>/gs, '</summary>').replace(/<wbr>/g, '');
  const inOneLine = open.replace(/<\/?(a|b|strong|small|code|time|span)\b[^>]*>/g, '').replace(/<[^>]*>/g, '\n');
  const lines = inOneLine
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .map((line) =>
      line
        .replace(/\d[\d.,:-]*/g, '#')
        .replace(/# (s|min|h|days)\b/g, '# h')
        .trim(),
    );
  return `${[...new Set(lines.filter(Boolean))].join('\n')}\n`;
}

async function takePicture(url: string, file: string): Promise<void> {
  const profile = mkdtempSync(join(tmpdir(), 'warmwarden-pictures-'));
  const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update'];
  const flags = ['--headless', '--no-sandbox', '--disable-gpu', '--disable-sync', '--hide-scrollbars', ...quiet];
  const chromium = process.env['CHROMIUM'] ?? 'chromium';
  const wanted = [`--user-data-dir=${profile}`, `--window-size=${size}`, `--screenshot=${file}`, url];
  await promisify(execFile)(chromium, [...flags, ...wanted], { timeout: 60_000 });
  rmSync(profile, { recursive: true, force: true });
}

test('the pictures show the words that the page has: if not, run `npm run pictures`', async () => {
  await using stage = await startMovedDaemon({ scenario: scenarios['bounce-storm'], poll });
  // On the hour polls are due, and for a moment they wait.
  await stage.run(8 * hourMs + 45 * secondMs);
  const { account, id } = stage.mailbox('amelia.ward@northbeam.example');
  for (const [name, path] of [
    ['fleet', '/'],
    ['mailbox', `/mailboxes/${account}/${id}`],
    ['command', `/mailboxes?mailbox=${account}/${id}&do=pause`],
  ] as const) {
    const url = `${stage.url()}${path}${path.includes('?') ? '' : '?refresh=off'}`;
    const words = wordsOf(await (await fetch(url)).text());
    if (takesPictures) {
      await takePicture(url, join(folder, `${name}.png`));
      writeFileSync(join(folder, `${name}.txt`), words);
    }
    expect(words).toBe(readFileSync(join(folder, `${name}.txt`), 'utf8'));
  }
});
