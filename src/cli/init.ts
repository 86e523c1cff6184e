// `warmwarden init`: writes a first configuration, and the secrets in it into files of their own.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Command } from 'commander';
import { loadConfig } from '../config/load.ts';
import { configurationError, editorSchema } from './configuration.ts';
import { CommandError } from './errors.ts';
import { configVariable } from './options.ts';
import { printLines } from './terminal.ts';

interface InitOptions {
  readonly config: string;
  readonly account: string;
  readonly baseUrl?: string;
  readonly keyEnv?: string;
  readonly keyFile?: string;
  readonly channel?: string;
}

/** Stands for a key that is not in the environment yet, so that the rest of the file can be checked. */
const keyOfLater = 'sk_live_later';

/** Answers to the questions. `key`: written into a file of its own; null if the options say where it is. */
interface StarterAnswers {
  readonly baseUrl: string;
  readonly key: string | null;
  /** Address of a webhook; empty for no channel. */
  readonly channel: string;
}

export function initCommand(): Command {
  return new Command('init')
    .description(
      'write a first configuration: asks for the API of the warm-up service, its key and a channel; overwrites nothing',
    )
    .option('--config <file>', 'the file to write', process.env[configVariable] || 'config.yaml')
    .option('--account <name>', 'a name for the account', 'main')
    .option('--base-url <url>', 'the address of the API of the warm-up service, without /v1')
    .option('--key-env <name>', 'the environment variable that holds the API key')
    .option('--key-file <file>', 'a file that holds the API key')
    .option('--channel <url>', 'where alerts go: a webhook of Slack, Teams or Discord')
    .action(init);
}

async function init(options: InitOptions): Promise<void> {
  const { config: file } = options;
  if (existsSync(file))
    throw new CommandError('usage', `${file} exists already, and stays as it is. Name another file: --config FILE.`);
  const answers = process.stdin.isTTY === true ? await questions(options) : withoutTerminal(options);
  const beside = (name: string) => join(dirname(file), name);
  const [keyFile, channelFile] = [beside('api_key'), beside('channel_url')];
  const isSecret = (path: string) => path === keyFile || path === channelFile;
  const files = [
    ...(answers.key === null ? [] : [{ path: keyFile, text: `${answers.key}\n` }]),
    ...(answers.channel === '' ? [] : [{ path: channelFile, text: `${answers.channel}\n` }]),
    { path: file, text: starterText(options, answers) },
  ];
  // An editor finds it there also after both were copied to another machine.
  const schemaFile = beside(basename(editorSchema));
  if (!existsSync(schemaFile)) files.push({ path: schemaFile, text: readFileSync(editorSchema, 'utf8') });
  const inTheWay = files.find(({ path }) => existsSync(path));
  if (inTheWay) throw new CommandError('usage', `${inTheWay.path} exists already. Move it, or name another --config.`);
  const { keyEnv } = options;
  const written: string[] = [];
  try {
    for (const { path, text } of files) {
      writeFileSync(path, text, { flag: 'wx', mode: isSecret(path) ? 0o600 : 0o644 });
      written.push(path);
    }
    const loaded = loadConfig(file, { ...(keyEnv !== undefined && { [keyEnv]: keyOfLater }), ...process.env });
    if (!loaded.ok) throw configurationError(file, loaded.problems);
  } catch (error) {
    for (const path of written) rmSync(path);
    throw error;
  }
  const secrets = files.filter(({ path }) => isSecret(path)).map(({ path }) => `${path} (mode 0600)`);
  printLines([
    `Written: ${[file, ...secrets].join(', ')}, and for editors ${schemaFile}.`,
    ...(keyEnv !== undefined && !process.env[keyEnv]
      ? [`Put the API key into the environment variable ${keyEnv}.`]
      : []),
    'Next: `warmwarden doctor` tries the key and the channel, and `warmwarden run` starts.',
    'It changes no mailbox until you remove the line `guard: {enforce: false}`.',
  ]);
}

function withoutTerminal({ baseUrl, keyEnv, keyFile, channel = '' }: InitOptions): StarterAnswers {
  if (baseUrl === undefined || (keyEnv === undefined && keyFile === undefined))
    throw new CommandError(
      'usage',
      'There is no terminal to ask on: add --base-url, and --key-env or --key-file. For example: warmwarden init --base-url https://mailboxes.example.com --key-env WARMUP_API_KEY --channel https://hooks.slack.com/services/...',
    );
  return { baseUrl, key: null, channel };
}

/** Asks at the terminal for what the options leave out. What is secret is not shown. */
async function questions({ baseUrl, keyEnv, keyFile, channel }: InitOptions): Promise<StarterAnswers> {
  let isHidden = false;
  const output = new Writable({
    write: (chunk, _encoding, done) => {
      if (!isHidden) process.stderr.write(chunk);
      done();
    },
  });
  const terminal = createInterface({ input: process.stdin, output, terminal: process.stderr.isTTY === true });
  const ask = async (question: string, isSecret: boolean) => {
    const answer = terminal.question(question);
    isHidden = isSecret;
    const text = (await answer).trim();
    isHidden = false;
    if (isSecret) process.stderr.write('\n');
    return text;
  };
  try {
    const hasKey = keyEnv !== undefined || keyFile !== undefined;
    return {
      baseUrl: baseUrl ?? (await ask('Address of the API of the warm-up service, without /v1: ', false)),
      key: hasKey ? null : await ask('API key, with read and write permission (not shown): ', true),
      channel:
        channel ?? (await ask('Webhook for alerts, of Slack, Teams or Discord (not shown; empty for none): ', true)),
    };
  } catch (error) {
    // Ctrl-C and Ctrl-D.
    if (!(error instanceof Error && error.name === 'AbortError')) throw error;
    throw new CommandError('declined', 'Nothing was written.');
  } finally {
    terminal.close();
  }
}

/** Configuration of at most twelve lines. */
function starterText({ account, keyEnv, keyFile }: InitOptions, { baseUrl, channel }: StarterAnswers): string {
  const key =
    keyEnv === undefined
      ? `api_key_file: ${JSON.stringify(keyFile === undefined ? './api_key' : resolve(keyFile))}`
      : `api_key: \${${keyEnv}}`;
  const lines = [
    `# yaml-language-server: $schema=./${basename(editorSchema)}`,
    `# Every other key and its default: ${join(dirname(editorSchema), 'config.example.yaml')}`,
    'accounts:',
    `  - name: ${JSON.stringify(account)}`,
    `    base_url: ${JSON.stringify(baseUrl)}`,
    `    ${key}`,
    'guard: {enforce: false}   # Warmwarden only notifies. Remove this line to let it change mailboxes.',
    'alerts:',
    ...(channel === ''
      ? ['  channels: []   # add one: no alert is sent yet']
      : ['  channels:', '    - name: ops', `      type: ${channelType(channel)}`, '      url_file: ./channel_url']),
  ];
  return `${lines.join('\n')}\n`;
}

const channelHosts: readonly (readonly [RegExp, string])[] = [
  [/(^|\.)slack\.com$/, 'slack'],
  [/(^|\.)discord(app)?\.com$/, 'discord'],
  [/(^|\.)(logic\.azure|powerplatform|office)\.com$/, 'teams'],
];

function channelType(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : '';
  const type = channelHosts.find(([pattern]) => pattern.test(host))?.[1];
  if (type !== undefined) return type;
  throw new CommandError(
    'usage',
    'The channel is not a webhook of Slack, Teams or Discord. Leave it out, and add your channel to the file as config.example.yaml shows.',
  );
}
