// Who may read and change the files that Warmwarden uses. Nothing is changed.
import { accessSync, constants, existsSync, readdirSync, type Stats, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathOf, type StorePlace } from '../../core/store-failure.ts';
import { userName } from '../../operations/user-name.ts';
import { type Examined, reporter } from './examined.ts';

const permission = reporter('permissions');
const everybodyReads = 0o004;
const everybodyWrites = 0o002;
/** What anybody but the owner may do. */
const others = 0o077;

interface Files {
  readonly config: string;
  /** Names of the settings whose secret stands in the configuration itself. */
  readonly secrets: readonly string[];
  readonly secretFiles: readonly string[];
  readonly recipesFolder: string | null;
  readonly store: StorePlace | null;
}

export function examineFiles(files: Files): readonly Examined[] {
  const wrong = [
    ...configFile(files),
    ...files.secretFiles.flatMap(secretFile),
    ...(files.recipesFolder === null ? [] : recipesFolder(files.recipesFolder)),
    ...(files.store === null ? [] : storeFiles(files.store)),
  ];
  return wrong.length > 0 ? wrong : [permission('ok', `The files are protected, and ${userName()} can use them.`)];
}

/**
 * Whether somebody who reads this value can do something with it: not with the digest of a token, nor with an address that has
 * neither a password nor a path. The path of a database is its name.
 */
export function isReadersGain(secret: string | null): boolean {
  if (secret === null || /^[0-9a-f]{64}$/i.test(secret)) return false;
  if (!URL.canParse(secret)) return true;
  const { protocol, username, password, pathname, search } = new URL(secret);
  const isDatabase = protocol.startsWith('postgres');
  return password !== '' || search !== '' || !(isDatabase || (username === '' && pathname.length <= 1));
}

function configFile({ config, secrets }: Files): readonly Examined[] {
  const { mode } = statSync(config);
  if (mode & everybodyWrites)
    return [permission('problem', `Every user can change ${config}: run \`chmod o-w ${config}\`.`)];
  if (secrets.length === 0 || !(mode & everybodyReads)) return [];
  const advice = `run \`chmod o-r ${config}\`, or move each into a file of its own (${secrets[0]}_file)`;
  return [
    permission('warning', `${config} holds secrets (${secrets.join(', ')}), and every user can read it: ${advice}.`),
  ];
}

function secretFile(file: string): readonly Examined[] {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats || !(stats.mode & everybodyReads)) return [];
  return [permission('warning', `Every user can read the secret in ${file}: run \`chmod o-r ${file}\`.`)];
}

function recipesFolder(folder: string): readonly Examined[] {
  if (!existsSync(folder) || may(folder, constants.R_OK)) return [];
  return [permission('problem', `${userName()} cannot read the recipes in ${folder}.`)];
}

function storeFiles(place: StorePlace): readonly Examined[] {
  const path = pathOf(place);
  const elsewhere = typeof place === 'string' ? 'store.url to a file elsewhere' : 'store.directory to another folder';
  const folder = nearestFolder(dirname(path));
  if (!statSync(folder).isDirectory())
    return [permission('problem', `${folder} is a file, but the store needs a folder there: set ${elsewhere}.`)];
  const unwritable = [folder, ...(existsSync(path) ? [path] : [])].filter((one) => !may(one, constants.W_OK));
  const [first] = unwritable;
  if (first !== undefined) {
    const who = `${userName()} cannot write to ${first}`;
    return [permission('problem', `${who}: run Warmwarden as the owner, or set ${elsewhere}.`)];
  }
  const open = filesOf(path).filter((file) => modeOf(file) & others);
  return open.map((file) =>
    permission(
      'warning',
      `Other users can open ${file}: run \`chmod ${statSync(file).isDirectory() ? 700 : 600} ${file}\`.`,
    ),
  );
}

/** The store, and its folder where nothing else is in it. SQLite gives what it writes beside it the mode of the store. */
function filesOf(path: string): readonly string[] {
  const folder = dirname(path);
  if (!existsSync(path)) return [];
  return readdirSync(folder).every((name) => join(folder, name).startsWith(path)) ? [folder, path] : [path];
}

/** Where the first start would make folders. */
function nearestFolder(folder: string): string {
  return existsSync(folder) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder));
}

function modeOf(path: string): Stats['mode'] {
  return statSync(path, { throwIfNoEntry: false })?.mode ?? 0;
}

function may(path: string, what: number): boolean {
  try {
    accessSync(path, what);
    return true;
  } catch {
    return false;
  }
}
