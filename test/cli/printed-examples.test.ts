// Every command that README and docs print is understood as it is printed; where it asks, the page says what scripts add.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { allCommands } from '../../src/cli/main.ts';
import { root } from '../support/process.ts';

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

interface Printed {
  readonly page: string;
  readonly line: string;
  /** In a block of its own, to be copied. */
  readonly block: boolean;
}

/** Lines of code fences, and `...` in sentences, that begin with the command and name no part of it in capitals only. */
function printedOn(page: string): readonly Printed[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fences = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, inside = '']) => inside.split('\n'));
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  // A name alone is talked about, not printed to be run.
  const named = inline.filter((code) => !/^warmwarden [a-z-]+$/.test(code));
  return [...fences.map((code) => ({ code, block: true })), ...named.map((code) => ({ code, block: false }))]
    .map(({ code, block }) => ({
      page,
      block,
      line: code
        .replaceAll('\\|', '|')
        .replace(/\s+#.*$/, '')
        .trim(),
    }))
    .filter(({ line }) => /^(npx )?warmwarden [a-z]/.test(line))
    .filter(({ line }) => !/\.\.\.|…|--file FILE|[a-z]\|[a-z]|\[options\]/.test(line));
}

function wordsOf(line: string): readonly string[] {
  const [own = ''] = line.replaceAll(/\$\([^)]*\)/g, 'x').split(/ [|>] /);
  const words: readonly string[] = own.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return words.slice(words.indexOf('warmwarden') + 1).map((word) => word.replaceAll(/["']/g, ''));
}

/** What stands for a value. */
const values: Readonly<Record<string, string>> = {
  MODE: 'slow',
  EMAILS: '15',
  ROLE: 'viewer',
  TIME: '2026-03-20T10:02Z',
};

/** How the line is understood: the command that would run, with its options; or what is wrong. */
async function understood(line: string): Promise<{ readonly asks: boolean } | { readonly wrong: string }> {
  let asks = false;
  const listening = (command: Command): Command => {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    for (const inner of command.commands) listening(inner);
    return command.action(() => {
      const options: Readonly<Record<string, unknown>> = command.opts();
      const changes = command.options.some(({ long }) => long === '--yes');
      const reloads = command.name() === 'reload' && !('force' in options);
      const reads = command.name() === 'run' && changes && !('apply' in options);
      asks = changes && !reloads && !reads && !('yes' in options) && !('dryRun' in options);
    });
  };
  const program = new Command('warmwarden').exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  for (const command of await allCommands()) program.addCommand(listening(command));
  try {
    await program.parseAsync(['node', 'warmwarden', ...wordsOf(line).map((word) => values[word] ?? word)]);
    return { asks };
  } catch (error) {
    if (error instanceof CommanderError && /^commander\.(help|version)/.test(error.code)) return { asks: false };
    return { wrong: error instanceof Error ? error.message : String(error) };
  }
}

const printed = pages.flatMap(printedOn);

test('every printed command is understood', async () => {
  expect(printed.length).toBeGreaterThan(80);
  const wrong: string[] = [];
  for (const { page, line } of printed) {
    const how = await understood(line);
    if ('wrong' in how) wrong.push(`${page}: ${line}: ${how.wrong}`);
  }
  expect(wrong).toEqual([]);
});

test('a page with a command that asks says what to add where there is no terminal', async () => {
  const silent = new Set<string>();
  for (const { page, line } of printed.filter(({ block }) => block)) {
    const how = await understood(line);
    const says = /without a terminal|no terminal/i.test(readFileSync(join(root, page), 'utf8').replaceAll(/\s+/g, ' '));
    if ('asks' in how && how.asks && !says) silent.add(page);
  }
  expect([...silent]).toEqual([]);
});

test('a wrong line is seen, and one that asks', async () => {
  expect(await understood('npx warmwarden undo --since 1h --yess')).toMatchObject({
    wrong: expect.stringContaining('--yess'),
  });
  expect(await understood('warmwarden undo --since 1h')).toEqual({ asks: true });
  expect(await understood('warmwarden undo --since 1h --yes | cat')).toEqual({ asks: false });
});
