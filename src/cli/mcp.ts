// `warmwarden mcp`: offers every saved recipe as a tool to an MCP client, over stdin and stdout.
import { Command } from 'commander';
import { proxiesIn } from '../core/egress.ts';
import { pathOf } from '../core/store-failure.ts';
import { socketPathOf } from '../operations/socket.ts';
import { RecipeApi } from '../recipes/client/client.ts';
import { serveTools, type ToolService } from '../recipes/mcp/tool-server.ts';
import { version } from '../world/program.ts';
import { isPlainHttpBeyondLoopback } from '../world/schema/scalars.ts';
import { readSmallFile } from '../world/schema/small-file.ts';
import { systemClock, type World, worldOn } from '../world/world.ts';
import { findStore } from './configuration.ts';
import { askFor } from './daemon.ts';
import { CommandError } from './errors.ts';
import { configOption } from './options.ts';

/** Time after which connections that do not end are abandoned. */
const closeDeadlineMs = 250;
const keyVariable = 'WARMWARDEN_API_KEY';

interface McpOptions {
  readonly config: string;
  readonly baseUrl?: string;
  readonly apiKeyFile?: string;
  readonly allowHttp?: boolean;
}

/** Source of the tools, and a function that closes it. */
interface OpenedTools {
  readonly service: ToolService;
  readonly close: () => Promise<void>;
}

export function mcpCommand(): Command {
  return new Command('mcp')
    .description('offer every saved recipe as a tool to an MCP client, over standard input and output')
    .addOption(configOption())
    .option('--base-url <url>', 'a recipe service elsewhere; its address ends with /v1')
    .option('--api-key-file <file>', `a file with its key; without it, the environment variable ${keyVariable}`)
    .option('--allow-http', 'accept plain http to another machine')
    .action(mcp);
}

async function mcp(options: McpOptions): Promise<void> {
  // Standard output carries only the protocol.
  const world = worldOn(systemClock(), { level: 'silent', format: 'json' });
  const note = (text: string) => process.stderr.write(`warmwarden mcp: ${text}\n`);
  const opened = options.baseUrl === undefined ? openStore(options.config, world) : openService(options, world);
  await serveTools({ input: process.stdin, output: process.stdout }, { ...opened, version, note }, world);
  await Promise.race([opened.close(), world.clock.sleep(closeDeadlineMs)]);
  process.exit(0);
}

/** Recipes of the daemon beside the store. */
function openStore(file: string, world: World): OpenedTools {
  const store = findStore(file);
  const socketPath = socketPathOf(pathOf(store));
  const api = new RecipeApi({ baseUrl: 'http://localhost/v1', apiKey: null, socketPath }, world);
  const guard = async () => {
    const { headline } = (await askFor(store, 'fleet', { limit: 1 })) as { readonly headline: string };
    return `The guard says now: ${headline}`;
  };
  return {
    service: { api, foreign: false, reach: () => askFor(store, 'version'), guard },
    close: () => api.close(),
  };
}

function openService(options: McpOptions, world: World): OpenedTools {
  const api = new RecipeApi(
    {
      baseUrl: checkedBaseUrl(options),
      apiKey: keyOf(options),
      egress: { proxies: proxiesIn(process.env).proxies, ca: null },
    },
    world,
  );
  return {
    service: { api, foreign: true },
    close: () => api.close(),
  };
}

/** Error for a mistake of the operator, in one sentence. */
function wrong(sentence: string): CommandError {
  return new CommandError('usage', sentence);
}

/** Checks the address of the service (docs/faults.md T1). */
function checkedBaseUrl({ baseUrl = '', allowHttp = false }: McpOptions): string {
  if (!/^https?:\/\//i.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw wrong(
      '--base-url is not an address: it must begin with https:// (or http:// when it leads to this machine) and end with /v1',
    );
  }
  const { username, password, search, hash, pathname } = new URL(baseUrl);
  if (username || password || search || hash) throw wrong('--base-url must have no name, no ? and no #');
  if (!/\/v1\/*$/.test(pathname)) throw wrong(`--base-url must end with /v1, as in ${baseUrl.replace(/\/+$/, '')}/v1`);
  if (/\/v1\/+v1\/*$/.test(pathname)) throw wrong('--base-url ends with /v1 twice');
  if (isPlainHttpBeyondLoopback(baseUrl) && !allowHttp) {
    throw wrong(
      '--base-url is plain http to another machine, which shows the key to everybody between: use https, or add --allow-http',
    );
  }
  return baseUrl;
}

function keyOf({ apiKeyFile }: McpOptions): string {
  if (apiKeyFile === undefined) {
    const key = process.env[keyVariable]?.trim() ?? '';
    if (key === '') throw wrong(`a recipe service wants a key: set ${keyVariable}, or give --api-key-file`);
    return checkedKey(key, keyVariable);
  }
  const read = readSmallFile(apiKeyFile);
  if ('failure' in read) throw wrong(`the file of --api-key-file can't be read: ${read.failure}`);
  return checkedKey(read.text.trim(), '--api-key-file');
}

/** Checks that the key fits into a header. */
function checkedKey(key: string, from: string): string {
  if (!/^[\x21-\x7e]{1,512}$/.test(key)) throw wrong(`${from} holds no key: it must be one word of ASCII`);
  return key;
}
