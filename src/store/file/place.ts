// Location of the store: files that only their owner can open, in a folder that only its owner can enter, and one name
// per file.
import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';

export const fileMode = 0o600;
const folderMode = 0o700;
const others = 0o077;

export const lockOf = (file: string) => `${file}.lock`;
export const noteOf = (file: string) => `${file}.failing`;

const companionsOf = (file: string) => [
  ...[`${file}-wal`, `${file}-shm`],
  ...[lockOf(file), `${lockOf(file)}-journal`, noteOf(file)],
];

/** Returns `closed` if this user may not read the folder; `existsSync` would report an absent file. */
export function presenceOf(path: string): 'there' | 'absent' | 'closed' {
  try {
    return statSync(path, { throwIfNoEntry: false }) ? 'there' : 'absent';
  } catch (error) {
    return isForbidden(error) ? 'closed' : 'absent';
  }
}

const isForbidden = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EACCES';

export const asItsUser = 'run the command as the user that runs Warmwarden, or as root';

export function absenceOf(path: string): string | null {
  const presence = presenceOf(path);
  if (presence === 'there') return null;
  if (presence === 'closed') return `This user may not open the folder of the store ${path}: ${asItsUser}.`;
  return `There is no store at ${path}: check the configuration, or start the daemon with it once to create the store.`;
}

/** Does not open existing files: closing them would release this process's locks. */
export function prepare(path: string): string {
  const folder = dirname(path);
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw new Error(`${folder} is a file, not a folder`);
  mkdirSync(folder, { recursive: true, mode: folderMode });
  const file = fileAt(path);
  for (const companion of companionsOf(file)) refuseOther(companion);
  for (const needed of [file, lockOf(file)]) create(needed);
  return file;
}

/** Returns warnings with a remedy if this user may not change the rights. */
export function closeToOthers(file: string): readonly string[] {
  return [...[file, ...companionsOf(file)].flatMap(closeFile), ...closeFolder(file)];
}

/** A link must lead to the same lock; a hard link would have another lock and another WAL. */
function fileAt(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return path;
  if (found.isSymbolicLink() && !existsSync(path)) throw new Error('it is a link to a file that does not exist');
  const file = realpathSync(path);
  const stats = statSync(file);
  if (stats.isDirectory()) throw new Error('it is a folder');
  if (!stats.isFile()) throw new Error('it is not a regular file');
  if (stats.nlink > 1) throw new Error(`it is a hard link: the file has ${stats.nlink} names, and may have only one`);
  return file;
}

/** Refuses a link, for example in place of the lock: it would lock another file. */
function refuseOther(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file; remove it`);
}

export function create(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'wx', fileMode));
}

/** Device and inode. They identify a file, also through links. */
export function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found ? `${found.dev}:${found.ino}` : 'not there';
}

export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

const isOurs = ({ uid }: Stats) => uid === process.getuid?.();
const modeOf = ({ mode }: Stats) => `0${(mode & 0o777).toString(8)}`;

function closeFile(path: string): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats || (stats.mode & others) === 0) return [];
  if (!isOurs(stats)) {
    return [`${path} belongs to another user, and others can open it (mode ${modeOf(stats)}): chown and chmod 600 it.`];
  }
  chmodSync(path, fileMode);
  return [];
}

/** A shared folder may have to be open. */
function closeFolder(file: string): readonly string[] {
  const folder = dirname(file);
  const stats = statSync(folder);
  if ((stats.mode & others) === 0) return [];
  const holdsMore = readdirSync(folder).some((name) => !name.startsWith(basename(file)));
  if (isOurs(stats) && !holdsMore) {
    chmodSync(folder, folderMode);
    return [];
  }
  const whose = isOurs(stats) ? 'holds other files too' : 'belongs to another user';
  return [
    `Other users can enter the folder of the store, ${folder} (mode ${modeOf(stats)}), which ${whose}: give the store its own folder with mode 0700.`,
  ];
}
