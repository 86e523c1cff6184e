// The configuration file and the environment -> Config, or every problem at once.
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { buildConfig, storePathOf } from './build.ts';
import type { Config } from './config.ts';
import { doubts, inconsistencies } from './consistency.ts';
import { readDocument, type SourceDocument } from './document.ts';
import { checkAgainst } from './findings.ts';
import { hideSecrets, secretsIn } from './hiding.ts';
import { byPlace, type Finding, formatPath, type Path, type Problem } from './problem.ts';
import { configSchema } from './schema.ts';
import { type Origin, type Setting, settingsOf } from './settings.ts';
import { type Environment, failureOf, type Substitution, substitute } from './substitute.ts';

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
 * Problems come in the order of the file, and none of them quotes a secret.
 */
export function loadConfig(path: string, environment: Environment): LoadedConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return refusal([atTop(`the file can't be read: ${failureOf(error)}`)]);
  }
  const source = readDocument(text);
  if (!('tree' in source)) return refusal(source.map((problem) => hideSecrets(problem, [])));
  if (source.tree === null || source.tree === undefined) return refusal([atTop('the file is empty')]);
  if (typeof source.tree !== 'object' || Array.isArray(source.tree)) {
    return refusal([atTop('the file must be a mapping of keys, beginning with accounts:')]);
  }

  const folder = dirname(resolve(path));
  const substitution = substitute(source.tree, environment, folder);
  const { tree } = substitution;
  const { findings, checked } = checkAgainst(configSchema, tree);
  const unknown = unresolvedPaths(substitution);
  const all = [
    ...source.findings,
    ...substitution.findings,
    // What a value says that was never substituted is no finding of its own.
    ...[...findings, ...inconsistencies(tree)].filter((finding) => !unknown.has(formatPath(finding.path))),
  ];
  const placed = (list: readonly Finding[]) => placeFindings(list, source, substitution);
  if (all.length > 0 || checked === null) return refusal(placed(all));
  return {
    ok: true,
    config: buildConfig(checked, folder),
    warnings: placed(doubts(tree)),
    settings: settingsOf({ tree, secrets: secretsIn(tree), originOf: (path) => originOf(path, source, substitution) }),
    secretFiles: [...substitution.readFrom.values()].map((from) => from.file),
  };
}

function originOf(path: Path, source: SourceDocument, { substituted, readFrom }: Substitution): Origin {
  const name = formatPath(path);
  const secret = readFrom.get(name);
  if (secret) return { kind: 'secret_file', ...source.placeOf(secret.path, 'value') };
  const place = source.placeOf(path, 'value');
  const origin = substituted.get(name);
  return origin ? { kind: 'environment', written: origin.written, ...place } : { kind: 'file', ...place };
}

/** Where the store of a configuration is, whatever else is wrong with the file; null when it does not say. */
export function locateStore(path: string, environment: Environment): string | null {
  try {
    const source = readDocument(readFileSync(path, 'utf8'));
    if (!('tree' in source)) return null;
    const folder = dirname(resolve(path));
    const { tree } = substitute(
      { store: (source.tree as { store?: unknown } | null)?.store ?? {} },
      environment,
      folder,
    );
    const { checked } = checkAgainst(configSchema.shape.store, (tree as { store: unknown }).store);
    return checked && storePathOf(checked, folder);
  } catch {
    return null;
  }
}

function refusal(problems: readonly Problem[]): LoadedConfig {
  return { ok: false, problems };
}

function atTop(message: string): Problem {
  return { line: 1, column: 1, path: '', message };
}

function unresolvedPaths(substitution: Substitution): ReadonlySet<string> {
  return new Set(substitution.findings.map((finding) => formatPath(finding.path)));
}

function placeFindings(
  findings: readonly Finding[],
  source: SourceDocument,
  { tree, substituted, readFrom }: Substitution,
): Problem[] {
  const secrets = secretsIn(tree);
  const seen = new Set<string>();
  return findings
    .map((finding): Problem => {
      const path = formatPath(finding.path);
      const from = readFrom.get(path)?.path ?? finding.path;
      const origin = substituted.get(path);
      const message = origin ? named(finding.message, origin) : finding.message;
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
  const quoted = message.replaceAll(JSON.stringify(origin.value), JSON.stringify(origin.written));
  // Messages quote with plain quotation marks; what JSON would escape is looked for as it is, too.
  return quoted.replaceAll(`"${origin.value}"`, `"${origin.written}"`);
}
