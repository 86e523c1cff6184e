// Reads the configuration file and the environment, and returns a Config, or every problem at once.
import { resolve } from 'node:path';
import { noProxies, type Proxies, proxiesIn } from '../core/egress.ts';
import { type Finding, formatPath, type Path, type Problem } from '../world/schema/problem.ts';
import { inconsistencies, warnings } from './checks.ts';
import { type AlertsConfig, type CheckedFile, type Config, configSchema } from './config.ts';
import { maybeSecretAt } from './hiding.ts';
import { type ConfigTree, readSource } from './include.ts';
import { placeOf } from './places.ts';
import { type Origin, type Setting, settingsOf } from './settings.ts';
import { checkPart, type Environment, placeFindings, type Substitution } from './source.ts';

export interface ValidConfig {
  readonly ok: true;
  readonly config: Config;
  readonly warnings: readonly Problem[];
  /** Configuration for people: in the form of the file, with origins, without secrets. */
  readonly settings: () => readonly Setting[];
  readonly secrets: readonly string[];
  /** Files that the configuration includes. */
  readonly included: readonly string[];
  /** Contents of the files of secrets, as they were read, by absolute path. */
  readonly secretFiles: ReadonlyMap<string, string>;
}

export type LoadedConfig = ValidConfig | { readonly ok: false; readonly problems: readonly Problem[] };

/** Reads and checks the file. Never throws for its contents. `sections`: the only top-level keys that are read. */
export function loadConfig(
  path: string,
  environment: Environment,
  sections: readonly (keyof CheckedFile)[] | null = null,
): LoadedConfig {
  const source = readSource(path);
  if (!('tree' in source)) return { ok: false, problems: source };
  const asked = new Set<string>(sections ?? Object.keys(source.tree).map((key) => key.replace(/_file$/, '')));
  const written = Object.fromEntries(
    Object.entries(source.tree).filter(([key]) => asked.has(key.replace(/_file$/, ''))),
  );
  const part = checkPart({ source, written, schema: configSchema, environment, rules: inconsistencies });
  if ('problems' in part) return { ok: false, problems: part.problems };
  const { checked, substitution } = part;
  const { tree, secrets } = substitution;
  const config = resolvedConfig(checked, source, environment);
  const cut = source.cut.filter((path) => asked.has(String(path[0])) && maybeSecretAt(path));
  return {
    ok: true,
    config,
    warnings: placeFindings(
      [
        ...warnings(config),
        ...unusableProxies(checked.proxy, environment),
        ...substitution.unbraced.values(),
        ...cut.map((path): Finding => ({ path, at: 'value', message: maybeCutByComment })),
      ],
      { source },
      substitution,
    ),
    settings: () => settingsOf({ tree, secrets, originOf: (path) => originOf(path, source, substitution) }),
    secrets,
    included: source.included,
    secretFiles: new Map([...substitution.readFrom.values()].map(({ file, contents }) => [file, contents])),
  };
}

function resolvedConfig({ guard, proxy, ...file }: CheckedFile, source: ConfigTree, environment: Environment): Config {
  const proxies = proxiesOf(proxy, environment);
  return {
    ...file,
    accounts: file.accounts.map((account) => ({ ...account, guard, egress: { proxies, ca: account.ca } })),
    alerts: withEgress(file.alerts, proxies),
    store: placeOf(file.store, source),
    recipes: { ...file.recipes, directory: resolve(source.folderOf(['recipes', 'directory']), file.recipes.directory) },
  };
}

export function withEgress(alerts: CheckedFile['alerts'], proxies: Proxies): AlertsConfig {
  return {
    ...alerts,
    channels: alerts.channels.map((channel) => ({ ...channel, egress: { proxies, ca: channel.ca } })),
    heartbeat: alerts.heartbeat && { ...alerts.heartbeat, egress: { proxies, ca: null } },
  };
}

/** Proxies in force: the key proxy, or the environment. NO_PROXY also applies to a written address. */
export function proxiesOf(written: string | undefined, environment: Environment): Proxies {
  if (written === 'none') return noProxies;
  const { proxies } = proxiesIn(environment);
  return written === undefined ? proxies : { ...proxies, http: written, https: written };
}

function unusableProxies(written: string | undefined, environment: Environment): Finding[] {
  if (written !== undefined) return [];
  return proxiesIn(environment).unusable.map((name) => ({
    path: ['proxy'],
    at: 'value',
    message: `the environment variable ${name} is not used, because it is not the address of an HTTP proxy (a % in its password is written as %25): write proxy, or proxy: none`,
  }));
}

const maybeCutByComment =
  'ends at a #, which begins a comment: if the # is part of the value, put the value in quotes; if not, write a space after it';

function originOf(path: Path, source: ConfigTree, { substituted, readFrom }: Substitution): Origin {
  const name = formatPath(path);
  const secret = readFrom.get(name);
  const { path: _, ...place } = source.placeOf(secret?.path ?? path, 'value');
  if (secret) return { kind: 'secret_file', ...place };
  const origin = substituted.get(name);
  return origin ? { kind: 'environment', written: origin.written, ...place } : { kind: 'file', ...place };
}
