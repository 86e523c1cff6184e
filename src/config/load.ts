// The configuration file and the environment -> Config, or every problem at once.
import { dirname, resolve } from 'node:path';
import { proxiesIn } from '../core/egress.ts';
import { createPacer } from '../world/world.ts';
import { buildConfig } from './build.ts';
import type { Config } from './config.ts';
import { doubts, inconsistencies } from './consistency.ts';
import { readingDocument, type SourceDocument } from './document.ts';
import { hideSecrets, maybeSecretAt, secretsIn } from './hiding.ts';
import { byPlace, checkAgainst, type Finding, formatPath, type Path, type Problem } from './problem.ts';
import { atOnce, type Steps } from './scalars.ts';
import { type CheckedFile, configSchema } from './schema.ts';
import { type Origin, type Setting, settingsOf } from './settings.ts';
import { readSmallFile } from './small-file.ts';
import { type Environment, type Substitution, substitute } from './substitute.ts';
import { unreachedAlerts } from './unreached.ts';

export interface ValidConfig {
  readonly ok: true;
  readonly config: Config;
  readonly warnings: readonly Problem[];
  /** The same for people: as the file would write it, with origins, without secrets. */
  readonly settings: readonly Setting[];
  /** The files that secrets were read from; absolute paths. */
  readonly secretFiles: readonly string[];
}

export type LoadedConfig = ValidConfig | { readonly ok: false; readonly problems: readonly Problem[] };

/**
 * Reads and checks the file at `path`. Never throws for what the file or the environment holds.
 * Problems come in the order of the file, and none of them quotes a secret. `sections`: the only top-level keys that are
 * read and whose secrets are needed; everything else is as if it were not written.
 */
export function loadConfig(
  path: string,
  environment: Environment,
  sections: readonly (keyof CheckedFile)[] | null = null,
): LoadedConfig {
  return atOnce(loading(path, environment, sections));
}

/** The same, with a turn of the event loop between its steps: a file of many accounts takes a while. */
export async function loadConfigInTurns(path: string, environment: Environment): Promise<LoadedConfig> {
  const steps = loading(path, environment, null);
  const pacer = createPacer(0, 'patient');
  for (let step = steps.next(); ; step = steps.next()) {
    await pacer.turn();
    if (step.done) return step.value;
  }
}

function* loading(
  path: string,
  environment: Environment,
  sections: readonly (keyof CheckedFile)[] | null,
): Steps<LoadedConfig> {
  const source = yield* readingSource(path);
  if (!('tree' in source)) return refusal(source);
  yield;

  const folder = dirname(resolve(path));
  const asked = new Set<string>(sections ?? Object.keys(source.tree));
  const read = Object.fromEntries(Object.entries(source.tree).filter(([key]) => asked.has(key)));
  const substitution = substitute(read, environment, folder);
  const { tree } = substitution;
  yield;
  const { findings, checked } = checkAgainst(configSchema, tree);
  yield;
  const unread = [...source.findings.filter(({ at }) => at === 'value'), ...substitution.findings];
  const unknown = new Set(unread.map(({ path }) => formatPath(path)));
  const all = [
    ...source.findings,
    ...substitution.findings,
    // What a value says that was never read or substituted is no finding of its own.
    ...[...findings, ...inconsistencies(tree)].filter((finding) => !unknown.has(formatPath(finding.path))),
  ];
  const placed = (list: readonly Finding[]) => placeFindings(list, source, substitution);
  if (all.length > 0 || checked === null) return refusal(placed(all));
  yield;
  const config = buildConfig(checked, folder, environment);
  const cut = source.cut.filter((path) => asked.has(String(path[0])) && maybeSecretAt(path));
  const maybeCut = cut.map((path): Finding => ({ path, at: 'value', message: maybeCutByComment }));
  const warnings = placed([
    ...doubts(tree),
    ...unreachedAlerts(config),
    ...unusableProxies(checked.proxy, environment),
    ...substitution.unbraced.values(),
    ...maybeCut,
  ]);
  yield;
  return {
    ok: true,
    config,
    warnings,
    settings: settingsOf({ tree, secrets: secretsIn(tree), originOf: (path) => originOf(path, source, substitution) }),
    secretFiles: [...substitution.readFrom.values()].map((from) => from.file),
  };
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

/** The file as a mapping of keys, or every reason why it is none. */
export function readSource(path: string): Source {
  return atOnce(readingSource(path));
}

type Source = (SourceDocument & { readonly tree: object }) | readonly Problem[];

function* readingSource(path: string): Steps<Source> {
  const read = readSmallFile(path);
  if ('failure' in read) return [atTop(`the file can't be read: ${read.failure}`)];
  const source = yield* readingDocument(read.text);
  if (!('tree' in source)) return source.map((problem) => hideSecrets(problem, []));
  const { tree } = source;
  if (tree === null || tree === undefined) return [atTop('the file is empty')];
  if (typeof tree !== 'object' || Array.isArray(tree)) {
    return [atTop('the file must be a mapping of keys, beginning with accounts:')];
  }
  return { ...source, tree };
}

function originOf(path: Path, source: SourceDocument, { substituted, readFrom }: Substitution): Origin {
  const name = formatPath(path);
  const secret = readFrom.get(name);
  if (secret) return { kind: 'secret_file', ...source.placeOf(secret.path, 'value') };
  const place = source.placeOf(path, 'value');
  const origin = substituted.get(name);
  return origin ? { kind: 'environment', written: origin.written, ...place } : { kind: 'file', ...place };
}

function refusal(problems: readonly Problem[]): LoadedConfig {
  return { ok: false, problems };
}

function atTop(message: string): Problem {
  return { line: 1, column: 1, path: '', message };
}

export function placeFindings(
  findings: readonly Finding[],
  source: SourceDocument,
  { tree, substituted, unbraced, readFrom }: Substitution,
): Problem[] {
  const secrets = secretsIn(tree);
  const seen = new Set<string>();
  return findings
    .map((finding): Problem => {
      const path = formatPath(finding.path);
      const from = readFrom.get(path)?.path ?? finding.path;
      const origin = substituted.get(path);
      const message = origin ? named(finding.message, origin) : (unbraced.get(path) ?? finding).message;
      return hideSecrets({ ...source.placeOf(from, finding.at), path: formatPath(from), message }, secrets);
    })
    .sort(byPlace)
    .filter((problem) => {
      const identity = JSON.stringify(problem);
      return !seen.has(identity) && seen.add(identity);
    });
}

/** What came from the environment is named, not quoted: it may be a secret that landed on the wrong key. */
function named(message: string, origin: { readonly written: string; readonly value: string }): string {
  const [, name] = /^\$\{(\w+)\}$/.exec(origin.written) ?? [];
  if (name !== undefined && origin.value === '') return `the environment variable ${name} is empty`;
  const quoted = message.replaceAll(JSON.stringify(origin.value), JSON.stringify(origin.written));
  // Messages quote with plain quotation marks; what JSON would escape is looked for as it is, too.
  return quoted.replaceAll(`"${origin.value}"`, `"${origin.written}"`);
}
