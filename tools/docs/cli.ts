// docs/cli.md: every command with its options and examples, from commander's commands. docs/cli-json.md: what they print with --json, from the shapes.
import type { Argument, Command, Option } from 'commander';
import { caseSchema } from '../../src/cli/decide.ts';
import { errorKinds, exitMeanings } from '../../src/cli/errors.ts';
import { allCommands, examplesOf } from '../../src/cli/main.ts';
import { errorShape, shapes } from '../../src/cli/shapes/shapes.ts';
import { idOf, shapeTable, sharedShapes } from './json-shape.ts';

const intro = `# Command line

<!-- Written by \`npm run docs\`. Edit the commands and their shapes in src/cli. -->

## What all commands share

- **Configuration**: \`--config FILE\`, else the file that \`WARMWARDEN_CONFIG\` names, else \`./config.yaml\`, else
  \`/etc/warmwarden/config.yaml\`.
- **A mailbox** is named by its address, by its id, or as \`ACCOUNT/ADDRESS\` where several accounts have the address.
- **The daemon** gets commands over the socket beside its store, or over HTTP with \`--url\`. The token is read from
  \`WARMWARDEN_TOKEN\`: the role viewer is enough to read, and changes need the role operator. A daemon without
  tokens (\`auth: none\`) accepts only \`reload\` with \`--url\`. Without a daemon they say
  \`No daemon answers: nothing is guarded.\` with the time of the last data, and exit with 1. Only \`check\`, \`doctor\`, \`backtest\`, \`decide\`, \`store\`, \`channels test\`,
  \`writes\`, \`token\`, \`demo\` and \`simulator\` do their work without one.
- **Changes** show their effect first. On a terminal the command asks; without a terminal it needs \`--yes\`. \`--dry-run\` only
  shows the effect. \`--reason\` is kept in the audit log (\`warmwarden history\`).
- **\`--json\`** prints one JSON document on standard output ([what each command prints](cli-json.md)).
- **Times for people** are in the time zone that \`alerts.time_zone\` sets in the daemon's configuration. Each time names its zone.

## Exit codes

| code | meaning |
| --- | --- |
${exitMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}

Some commands print their answer and still end with 1: \`status\` when an account cannot be read, a key
is read-only, the store fails or a channel takes no messages, \`backtest\` when something could not be read, \`channels test\`
when the message was not sent, \`recipes run\` when the run failed, and \`doctor\` when it found a problem, as when the
configuration selects no mailbox (2 when the problem is in the configuration, 3 when the store belongs to a newer version). That
no daemon runs is a warning of \`doctor\`: it also checks what is needed before the first start.
`;

const jsonIntro = `# What commands print with --json

<!-- Written by \`npm run docs\`. Edit the shapes in src/cli/shapes. -->

One JSON document on standard output: keys in snake_case, times in ISO 8601 in UTC, unknown values null. The shapes are stable: within a
major version no key is removed, and each key keeps its meaning. Keys may be added. [Commands](cli.md) has the options.

## Errors

With \`--json\` an error is the only output, on standard output:

${shapeTable(errorShape)}

| error.code | exit code | meaning |
| --- | --- | --- |
${Object.entries(errorKinds)
  .map(([kind, { exitCode, meaning }]) => `| \`${kind}\` | ${exitCode} | ${meaning} |`)
  .join('\n')}
`;

/** Options that at least this many commands have in the same words are described once. */
const commonAt = 12;

const visibleCommands = async () => (await allCommands()).filter((command) => !command.name().startsWith('_'));

/** Rows of the options that many commands share, by the row. */
function commonRows(commands: readonly Command[]): ReadonlySet<string> {
  const rows = commands
    .flatMap((command) => [command, ...command.commands])
    .flatMap(({ options }) => options.map(optionRow));
  return new Set(rows.filter((row) => rows.filter((other) => other === row).length >= commonAt));
}

/** Ends with a line break. */
export async function cliText(): Promise<string> {
  const commands = await visibleCommands();
  const common = commonRows(commands);
  const list = commands.map((command) => `| [\`${command.name()}\`](#${command.name()}) | ${command.description()} |`);
  return [
    intro,
    `## Commands\n\n| command | does |\n| --- | --- |\n${list.join('\n')}\n`,
    `## Common options\n\n| option | meaning |\n| --- | --- |\n${[...common].join('\n')}\n`,
    ...commands.map((command) => commandText(command, common)),
  ].join('\n');
}

/** Ends with a line break. */
export function cliJsonText(): string {
  const shared = sharedShapes([errorShape, ...Object.values(shapes)]).map(({ id, description, table }) =>
    [`### ${id}`, description, table].join('\n\n'),
  );
  const printed = Object.keys(shapes).map((words) => `## ${words}\n${jsonText(words)}`);
  return [jsonIntro, ...printed, `## Shapes\n\n${shared.join('\n\n')}\n`].join('\n');
}

function commandText(command: Command, common: ReadonlySet<string>): string {
  const inner = command.commands.map((one) => partText(one, `${command.name()} ${one.name()}`, '####', common));
  const lines = examplesOf(command.name());
  const shown = lines.length === 0 ? '' : `\n\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;
  // Options of its own: it does something by itself.
  if (command.options.length > 0)
    return [`${partText(command, command.name(), '###', common)}${shown}`, ...inner].join('\n');
  return [`### ${command.name()}\n\n${capital(command.description())}.\n${shown}`, ...inner].join('\n');
}

function partText(command: Command, words: string, heading: string, common: ReadonlySet<string>): string {
  const wanted = command.registeredArguments.map((argument) => {
    const shown = argument.name().toUpperCase();
    return argument.required ? shown : `[${shown}]`;
  });
  const own = command.options.filter((option) => !common.has(optionRow(option)));
  const others = command.options.filter((option) => !own.includes(option)).map(({ long }) => `\`${long}\``);
  const rows = [...command.registeredArguments.map(argumentRow), ...own.map(optionRow)];
  const table = rows.length === 0 ? '' : `\n| option | meaning |\n| --- | --- |\n${rows.join('\n')}\n`;
  const required = command.options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  const optional = command.options.length > required.length ? ['[options]'] : [];
  const usage = ['warmwarden', words, ...wanted, ...required, ...optional].join(' ');
  const more = others.length === 0 ? '' : `\nAlso ${others.join(', ')}.\n`;
  return `${heading} ${words}\n\n${capital(command.description())}.\n\n    ${usage}\n${table}${more}`;
}

const casesText = `
\`--cases\` takes a JSON array of cases, or an object with such an array under \`vectors\`. Each case has:

${shapeTable(caseSchema)}
`;

/** Empty for a command that prints no facts. */
function jsonText(words: string): string {
  const shape = Object.hasOwn(shapes, words) ? shapes[words as keyof typeof shapes] : null;
  if (shape === null) return '';
  const id = idOf(shape);
  if (id !== null) return `\n\`--json\` prints ${/^[aeiou]/.test(id) ? 'an' : 'a'} [${id}](#${id}).\n`;
  return `\n\`--json\` prints:\n\n${shapeTable(shape)}\n${words === 'decide' ? casesText : ''}`;
}

function argumentRow(argument: Argument): string {
  return `| \`${argument.name().toUpperCase()}\` | ${cell(argument.description)} |`;
}

function optionRow(option: Option): string {
  const { flags, description, defaultValue, defaultValueDescription, argChoices, mandatory } = option;
  const plain = ['string', 'number'].includes(typeof defaultValue) && defaultValue !== '';
  const usual = defaultValueDescription ?? (plain ? `\`${String(defaultValue)}\`` : null);
  const notes = [
    ...(argChoices ? [`one of ${argChoices.map((one) => `\`${one}\``).join(', ')}`] : []),
    ...(mandatory ? ['required'] : []),
    ...(usual === null ? [] : [`default: ${usual}`]),
  ];
  return `| \`${flags}\` | ${cell([description, ...notes].join('; '))} |`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
