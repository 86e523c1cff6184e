// The doctor's view of the configuration's files: which of them every user can read or change.
import { statSync } from 'node:fs';
import type { LoadedConfig } from '../../config/load.ts';
import { type Examined, reporter } from './examined.ts';

const permission = reporter('permissions');
const everybodyReads = 0o004;
const everybodyWrites = 0o002;

export function examineFiles(file: string, loaded: Extract<LoadedConfig, { ok: true }>): readonly Examined[] {
  const ofSecrets = [...loaded.secretFiles.keys()];
  const configs = [file, ...loaded.included];
  const written = loaded.settings().filter(({ secret }) => isReadersGain(secret));
  const holders = written.flatMap(({ from }) => (from.kind === 'file' ? [from.file ?? file] : []));
  const are = (mode: number) => (one: string) => ((statSync(one, { throwIfNoEntry: false })?.mode ?? 0) & mode) !== 0;
  const wrong = [
    ...[...configs, ...ofSecrets]
      .filter(are(everybodyWrites))
      .map((one) => permission('problem', `Every user can change ${one}: run \`chmod o-w ${one}\`.`)),
    ...[...new Set([...holders, ...ofSecrets])]
      .filter(are(everybodyReads))
      .map((one) => permission('warning', `Every user can read the secrets in ${one}: run \`chmod o-r ${one}\`.`)),
  ];
  return wrong.length > 0 ? wrong : [permission('ok', 'The files of the configuration are protected.')];
}

/** True if a reader can use this value: not a digest, nor an address without a password and a path. */
function isReadersGain(secret: string | null): boolean {
  if (secret === null || /^[0-9a-f]{64}$/i.test(secret)) return false;
  if (!URL.canParse(secret)) return true;
  const { protocol, username, password, pathname, search } = new URL(secret);
  const isDatabase = protocol.startsWith('postgres');
  return password !== '' || search !== '' || !(isDatabase || (username === '' && pathname.length <= 1));
}
