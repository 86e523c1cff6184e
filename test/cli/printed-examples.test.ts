// Every command that README and docs print is understood as it is printed.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { allCommands } from '../../src/cli/main.ts';
import { errorShape, shapes } from '../../src/cli/shapes/shapes.ts';
import { commandExamples, errorExample, shapeExamples } from '../../tools/docs/json-examples.ts';
import { root } from '../support/process.ts';

const pages = ['README.md', ...readdirSync(join(root, 'docs')).map((name) => `docs/${name}`)].filter((name) =>
  name.endsWith('.md'),
);

interface Printed {
  readonly page: string;
  readonly line: string;
}

/** Lines of code fences, and `...` in sentences, that begin with the command and name no part of it in capitals only. */
function printedOn(page: string): readonly Printed[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fences = [...text.matchAll(/^```\w*\n([\s\S]*?)^```/gm)].flatMap(([, inside = '']) => inside.split('\n'));
  const inline = [...text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code);
  // A name alone is talked about, not printed to be run.
  const named = inline.filter((code) => !/^warmwarden [a-z-]+$/.test(code));
  return [...fences, ...named]
    .map((code) => ({
      page,
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

/** What is wrong with the line; null where a command would run. */
async function mistakeIn(line: string): Promise<string | null> {
  const listening = (command: Command): Command => {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    for (const inner of command.commands) listening(inner);
    return command.action(() => {});
  };
  const program = listening(new Command('warmwarden'));
  for (const command of await allCommands()) program.addCommand(listening(command));
  try {
    await program.parseAsync(['node', 'warmwarden', ...wordsOf(line).map((word) => values[word] ?? word)]);
    return null;
  } catch (error) {
    if (error instanceof CommanderError && /^commander\.(help|version)/.test(error.code)) return null;
    return error instanceof Error ? error.message : String(error);
  }
}

const printed = pages.flatMap(printedOn);

test('every printed command is understood', async () => {
  expect(printed.length).toBeGreaterThan(80);
  const wrong: string[] = [];
  for (const { page, line } of printed) {
    const mistake = await mistakeIn(line);
    if (mistake !== null) wrong.push(`${page}: ${line}: ${mistake}`);
  }
  expect(wrong).toEqual([]);
  expect(await mistakeIn('npx warmwarden undo --since 1h --yess')).toContain('--yess');
});

/** Names of all fields that a command prints, of its errors, too. */
function fieldsOf(words: keyof typeof shapes): ReadonlySet<string> {
  const names = (schema: unknown): readonly string[] => {
    if (typeof schema !== 'object' || schema === null) return [];
    const own = 'properties' in schema ? Object.keys(schema.properties as object) : [];
    return [...own, ...Object.values(schema).flatMap(names)];
  };
  return new Set([shapes[words], errorShape].flatMap((shape) => names(z.toJSONSchema(shape, { io: 'input' }))));
}

/** Fields that a line with jq reads and its command does not print: `.email`, `{action, reason}`. */
function unprinted(line: string): readonly string[] {
  const [command = '', ...rest] = line.split('| jq ');
  const words = (Object.keys(shapes) as (keyof typeof shapes)[]).findLast((one) =>
    `${command} `.includes(`warmwarden ${one} `),
  );
  if (words === undefined) return [line];
  const program = rest.join('').replace(/ \w+\.json$/, '');
  const objects = [...program.matchAll(/\{([\w, ]+)\}/g)].flatMap(([, names = '']) => names.split(', '));
  const read = [...[...program.matchAll(/\.([a-z_]+)/g)].map(([, name = '']) => name), ...objects];
  return read.filter((name) => !fieldsOf(words).has(name)).map((name) => `${line}: ${name}`);
}

test('every printed line with jq reads fields that its command prints', () => {
  const lines = pages.flatMap(
    (page) => readFileSync(join(root, page), 'utf8').match(/^.*warmwarden [a-z].*\| jq .*$/gm) ?? [],
  );
  expect(lines.length).toBeGreaterThan(25);
  expect(lines.flatMap(unprinted)).toEqual([]);
  expect(unprinted("warmwarden status --json | jq '.mailboxes[].mood'")).toHaveLength(1);
});

test('every printed answer has the shape of its command', () => {
  errorShape.parse(JSON.parse(errorExample.text));
  for (const [words, { kind, text }] of Object.entries(commandExamples))
    if (kind === 'json') shapes[words as keyof typeof shapes].parse(JSON.parse(text));
  const { schemas } = z.toJSONSchema(z.globalRegistry, { io: 'input', unrepresentable: 'any' });
  for (const [name, { kind, text }] of Object.entries(shapeExamples))
    if (kind === 'json')
      expect(Object.keys(schemas[name]?.properties ?? {})).toEqual(
        expect.arrayContaining(Object.keys(JSON.parse(text))),
      );
});
