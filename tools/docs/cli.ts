// docs/cli.md: every command with its options and examples, from commander's commands. docs/cli-json.md: what they print with --json, from the shapes.
import type { Argument, Command, Option } from 'commander';
import { caseSchema } from '../../src/cli/decide.ts';
import { errorKinds, exitMeanings } from '../../src/cli/errors.ts';
import { allCommands, examplesOf } from '../../src/cli/main.ts';
import { errorShape, shapes } from '../../src/cli/shapes/shapes.ts';
import { casesExample, commandExamples, errorExample, type JsonExample, shapeExamples } from './json-examples.ts';
import { idOf, shapeTable, sharedShapes } from './json-shape.ts';

const intro = `# Command line

<!-- Written by \`npm run docs\`. Edit the commands in src/cli and tools/docs/cli.ts. -->

\`warmwarden COMMAND --help\` prints the options of a command and more examples. [JSON output](cli-json.md) lists the fields of \`--json\`.
`;

const shared = `- **MAILBOX** is an address, an id, or \`ACCOUNT/ADDRESS\` if several accounts have the address.
- **With \`--url\`**, a token with the role \`viewer\` may read, and one with the role \`operator\` may change things. A daemon without tokens accepts
  only \`reload\` over HTTP.
- **Without a daemon**, a command ends with \`No daemon answers: nothing is guarded.\` and code 1. These work without one: \`init\`, \`check\`,
  \`doctor\`, \`channels test\`, \`token\`, \`store\`, \`writes\` and everything under [Try](#try).
- **Times** are in \`alerts.time_zone\` of the daemon, and name their zone.

## Exit codes

| code | meaning |
| --- | --- |
${exitMeanings.map(([code, meaning]) => `| ${code} | ${meaning} |`).join('\n')}

These commands print their answer and end with 1:

| command | if |
| --- | --- |
| \`status\` | an account cannot be read, a key is read-only, the store fails, or a channel takes no messages |
| \`doctor\` | it found a problem (2: in the configuration; 3: the store is newer). A missing daemon is only a warning |
| \`channels test\` | the message was not sent |
| \`recipes run\` | the run failed |
| \`backtest\` | something could not be read |
`;

interface Group {
  readonly heading: string;
  readonly about: string;
  /** First words of the commands, in the order of the page. */
  readonly names: readonly string[];
}

const groups: readonly Group[] = [
  {
    heading: 'Watch',
    about: 'Questions to the running daemon. They change nothing, except `recipes run --apply`.',
    names: ['status', 'alerts', 'explain', 'history', 'recipes'],
  },
  {
    heading: 'Act',
    about: 'Each command shows its effect and asks first.',
    names: ['pause', 'resume', 'mode', 'limit', 'set', 'undo', 'writes', 'breaker', 'contest'],
  },
  {
    heading: 'Silence',
    about: 'A silence mutes messages. Warmwarden continues to guard, and still sends the end of an announced alert.',
    names: ['silence', 'ack'],
  },
  {
    heading: 'Set up',
    about: 'From the first file to the daily backup.',
    names: ['init', 'check', 'doctor', 'connect', 'run', 'reload', 'channels', 'token', 'store', 'mcp'],
  },
  {
    heading: 'Try',
    about: 'Nothing here changes a mailbox of yours.',
    names: ['demo', 'backtest', 'decide', 'simulator'],
  },
];

const jsonIntro = `# What commands print with --json

<!-- Written by \`npm run docs\`. Edit the shapes in src/cli/shapes, and tools/docs/json-examples.ts. -->

One JSON document on standard output: keys in snake_case, times in ISO 8601 in UTC, unknown values null. The shapes are stable: within a
major version no key is removed, and each key keeps its meaning. Keys may be added. [Commands](cli.md) has the options.

## Errors

An error is the only output:

${fence(errorExample)}

${shapeTable(errorShape)}

| error.code | exit code | meaning |
| --- | --- | --- |
${Object.entries(errorKinds)
  .map(([kind, { exitCode, meaning }]) => `| \`${kind}\` | ${exitCode} | ${meaning} |`)
  .join('\n')}
`;

/** Options that at least this many commands have in the same words are described once. */
const commonAt = 12;

interface Leaf {
  readonly command: Command;
  /** Words that call the command, without arguments: `silence add`. */
  readonly words: string;
}

/** Lines of the common options, by their flags. */
type CommonOptions = ReadonlyMap<string, string>;

/** Ends with a line break. */
export async function cliText(): Promise<string> {
  const commands = (await allCommands()).filter((command) => !command.name().startsWith('_'));
  const left = commands
    .map((command) => command.name())
    .filter((name) => !groups.some((one) => one.names.includes(name)));
  if (left.length > 0) throw new Error(`in no group of tools/docs/cli.ts: ${left.join(', ')}`);
  const leaves = commands.flatMap(leavesOf);
  const common = commonOptions(leaves);
  const texts = groups.map((group) => {
    const those = group.names.flatMap((name) => leaves.filter(({ words }) => words.split(' ')[0] === name));
    return groupText(group, those, common);
  });
  return [intro, `## Common options\n\n${[...common.values()].join('\n')}\n${shared}`, ...texts].join('\n');
}

/** Commands that do something by themselves. What goes wrong in a simulator stands in a table of its own. */
function leavesOf(command: Command): readonly Leaf[] {
  const name = command.name();
  if (command.options.length > 0) return [{ command, words: name }];
  return command.commands.map((inner) => ({ command: inner, words: `${name} ${inner.name()}` }));
}

function commonOptions(leaves: readonly Leaf[]): CommonOptions {
  const options = leaves.flatMap(({ command }) =>
    command.options.map((option) => [option.flags, optionLine(option)] as const),
  );
  return new Map(options.filter(([, line]) => options.filter(([, other]) => other === line).length >= commonAt));
}

function groupText({ heading, about }: Group, leaves: readonly Leaf[], common: CommonOptions): string {
  const flagsOf = ({ command }: Leaf) => command.options.map(({ flags }) => flags);
  const all = [...common.keys()].filter((flags) => leaves.every((leaf) => flagsOf(leaf).includes(flags)));
  const said = all.length === 0 ? '' : ` All take ${longNames(all)}.`;
  const rest = new Map([...common].filter(([flags]) => !all.includes(flags)));
  const texts = leaves.map((leaf) => leafText(leaf, common, rest));
  return `## ${heading}\n\n${about}${said}\n\n${texts.join('\n')}`;
}

/** `rest`: common options that only some commands of the group take. */
function leafText({ command, words }: Leaf, common: CommonOptions, rest: CommonOptions): string {
  const wanted = command.registeredArguments.map(usageOf);
  const more = command.options.filter((option) => rest.get(option.flags) === optionLine(option));
  const also = more.length === 0 ? '' : ` Also ${longNames(more.map(({ flags }) => flags))}.`;
  const [example] = examplesOf(words);
  return [
    `### ${[words, ...wanted].join(' ')}`,
    `${capital(command.description())}.${also}`,
    ...(example === undefined ? [] : [`\`\`\`sh\n${example}\n\`\`\``]),
    ...(command.commands.length === 0 ? ownLines(command, common) : [incidentTable(command)]),
  ]
    .join('\n\n')
    .concat('\n');
}

function usageOf(argument: Argument): string {
  const shown = argument.name().toUpperCase();
  return argument.required ? shown : `[${shown}]`;
}

/** One paragraph of lines about the arguments and options that are not described elsewhere, or none. */
function ownLines(command: Command, common: CommonOptions): readonly string[] {
  const named = command.registeredArguments.filter((argument) => argument.name() !== 'mailbox');
  const own = command.options.map(optionLine).filter((line) => ![...common.values()].includes(line));
  const lines = [...named.map(argumentLine), ...own];
  return lines.length === 0 ? [] : [lines.join('\n')];
}

/** Commands below `simulator`. Its options are many, and only its help lists them. */
function incidentTable(command: Command): string {
  const rows = command.commands.map((inner) => {
    const usage = [inner.name(), ...inner.registeredArguments.map(usageOf)].join(' ');
    return `| \`${usage}\` | ${inner.description()} |`;
  });
  return `\`--help\` lists scenarios, speed, plans and keys. In a running simulator:\n\n| ${command.name()} | does |\n| --- | --- |\n${rows.join('\n')}`;
}

/** Words of a command that prints JSON. */
type Words = keyof typeof shapes;

/** Ends with a line break. Commands without an example share the heading of the shape that they print. */
export function cliJsonText(): string {
  const shared = sharedShapes([errorShape, ...Object.values(shapes)]).map(({ id, description, table }) =>
    [`### ${id}`, description, ...exampleText(shapeExamples[id]), table].join('\n\n'),
  );
  const words = Object.keys(shapes) as readonly Words[];
  const headings = Map.groupBy(words, (one) => (commandExamples[one] ? one : (idOf(shapes[one]) ?? one)));
  const printed = [...headings.values()].map(
    (those) => `## ${those.join(', ')}\n\n${those.slice(0, 1).map(jsonText)}\n`,
  );
  return [jsonIntro, ...printed, `## Shapes\n\n${shared.join('\n\n')}\n`].join('\n');
}

const casesText = `\`--cases\` takes a JSON array of cases, or an object with such an array under \`vectors\`:

${fence(casesExample)}

${shapeTable(caseSchema)}`;

function jsonText(words: Words): string {
  const shape = shapes[words];
  const example = exampleText(commandExamples[words]);
  const id = idOf(shape);
  if (id !== null)
    return [`\`--json\` prints ${/^[aeiou]/.test(id) ? 'an' : 'a'} [${id}](#${id}).`, ...example].join('\n\n');
  return [...example, shapeTable(shape), ...(words === 'decide' ? [casesText] : [])].join('\n\n');
}

function exampleText(example: JsonExample | undefined): readonly string[] {
  return example === undefined ? [] : [fence(example)];
}

function fence({ kind, text }: JsonExample): string {
  return `\`\`\`${kind}\n${text}\n\`\`\``;
}

function argumentLine(argument: Argument): string {
  return `- \`${argument.name().toUpperCase()}\`: ${[argument.description, ...choicesOf(argument)].join('; ')}`;
}

function optionLine(option: Option): string {
  const { flags, description, defaultValue, defaultValueDescription, mandatory } = option;
  const plain = ['string', 'number'].includes(typeof defaultValue) && defaultValue !== '';
  const usual = defaultValueDescription ?? (plain ? `\`${String(defaultValue)}\`` : null);
  const notes = [
    ...choicesOf(option),
    ...(mandatory ? ['required'] : []),
    ...(usual === null ? [] : [`default: ${usual}`]),
  ];
  return `- \`${flags}\`: ${[description, ...notes].join('; ')}`;
}

function choicesOf({ argChoices }: Argument | Option): readonly string[] {
  return argChoices ? [`one of ${argChoices.map((one) => `\`${one}\``).join(', ')}`] : [];
}

/** Options without their values: `--config`. */
function longNames(flags: readonly string[]): string {
  return flags.map((one) => `\`${one.split(' ')[0]}\``).join(', ');
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
