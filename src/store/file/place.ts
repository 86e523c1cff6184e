// Where the store lies: files that only their owner can open, in a folder that only its owner can enter, and one name for one file.
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
/** What others may do, in the bits of a mode. */
const others = 0o077;

export const lockOf = (file: string) => `${file}.lock`;
export const noteOf = (file: string) => `${file}.failing`;

/** What stands beside the file: SQLite's own, and ours. */
const companionsOf = (file: string) => [
  ...[`${file}-wal`, `${file}-shm`],
  ...[lockOf(file), `${lockOf(file)}-journal`, noteOf(file)],
];

/** `closed`: this user may not look into its folder. Not `existsSync`, to which that is an absent file. */
export function presenceOf(path: string): 'there' | 'absent' | 'closed' {
  try {
    return statSync(path, { throwIfNoEntry: false }) ? 'there' : 'absent';
  } catch (error) {
    return isForbidden(error) ? 'closed' : 'absent';
  }
}

const isForbidden = (error: unknown) => error instanceof Error && 'code' in error && error.code === 'EACCES';

export const asItsUser = 'run the command as the user that runs Warmwarden, or as root';

/** Why no store can be opened at the path, in one sentence; null when a file is there. */
export function absenceOf(path: string): string | null {
  const presence = presenceOf(path);
  if (presence === 'there') return null;
  if (presence === 'closed') return `This user may not open the folder of the store ${path}: ${asItsUser}.`;
  return `There is no store at ${path}: check the configuration, or start the daemon with it once to create the store.`;
}

/**
 * Makes folder, file and lock where they are missing. Returns the file itself, where the path is a link. Opens nothing that
 * exists: closing it again would take this process's locks on it away. Throws what is wrong with the path.
 */
export function prepare(path: string): string {
  const folder = dirname(path);
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw new Error(`${folder} is a file, not a folder`);
  mkdirSync(folder, { recursive: true, mode: folderMode });
  const file = fileAt(path);
  for (const companion of companionsOf(file)) refuseOther(companion);
  for (const needed of [file, lockOf(file)]) create(needed);
  return file;
}

/** Takes other users' rights on the store away where they are ours to take. Otherwise says so, with the remedy: sentences for the log. */
export function closeToOthers(file: string): readonly string[] {
  return [...[file, ...companionsOf(file)].flatMap(closeFile), ...closeFolder(file)];
}

/** A link to the file must find the same lock; a second name of the file itself would have another lock and another WAL. */
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

/** A link in the place of a lock, say, would lock something else. */
function refuseOther(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile()) throw new Error(`${path} is not a regular file; remove it`);
}

/** An empty file, as SQLite makes one, but for its owner alone from the first moment. */
export function create(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'wx', fileMode));
}

/** Device and inode: the same for as long as it is the same file, through links too. */
export function identityOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found ? `${found.dev}:${found.ino}` : 'not there';
}

/** Bytes; 0 when it is not there. */
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

/** A folder that holds more than the store may have to be open: for us it is only ours when nothing else is in it. */
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
