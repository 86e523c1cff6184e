// Puts the compiled program and the packages that it loads into few files: `npm run build` calls it with the folder that tsc filled.
// A start that loads 1,250 files one by one takes twice the CPU, and keeps 12 MB more.
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { type Plugin, type RolldownOutput, rolldown } from 'rolldown';

/** What is loaded by its path: by bin.js, by whoever imports `warmwarden/json`, as a thread, as a process. */
export const entries: readonly string[] = [
  'cli/main',
  'cli/shapes/shapes',
  'recipes/select-child',
  'store/file/checkpoint-thread',
  'store/file/damage-thread',
];

/** pg asks for it where it is installed. */
const absent = ['pg-native'];

/** A file of ours goes on to find what stands beside it by the path that it had before. */
function ownPaths(folder: string): Plugin {
  const marked = /__pathOf\("([^"]+)"\)/g;
  return {
    name: 'own-paths',
    transform(code, id) {
      if (!id.startsWith(folder + sep) || !code.includes('import.meta.url')) return null;
      const own = relative(folder, id).replaceAll(sep, '/');
      return code.replaceAll('import.meta.url', `__pathOf("${own}")`);
    },
    renderChunk(code, { fileName }) {
      if (!marked.test(code)) return null;
      const urlOf = (own: string) => JSON.stringify(relative(dirname(fileName), own).replaceAll(sep, '/'));
      return code.replaceAll(marked, (_, own: string) => `new URL(${urlOf(own)}, import.meta.url).href`);
    },
  };
}

/** The same code in ASCII: a file with a single letter beyond Latin-1 takes two bytes a letter for as long as the process runs. */
export function inAscii(code: string): string {
  if (code.includes('String.raw')) throw new Error('A file reads the text of its own source: it must not be escaped.');
  return code.replaceAll(/[\u0080-\uffff]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Rolldown leaves out what it does not find. */
function refuseMissing(output: RolldownOutput['output']): void {
  const files = output.map(({ fileName }) => fileName);
  const imported = output.flatMap((file) => (file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : []));
  const missing = imported.filter((one) => !isBuiltin(one) && !files.includes(one) && !absent.includes(one));
  if (missing.length > 0) throw new Error(`The bundle lacks ${[...new Set(missing)].join(', ')}.`);
}

async function bundle(folder: string): Promise<void> {
  // tsc puts the simulator beside them.
  const sources = join(folder, 'src');
  const input = Object.fromEntries(entries.map((entry) => [entry, join(sources, `${entry}.js`)]));
  const built = await rolldown({
    input,
    platform: 'node',
    external: absent,
    plugins: [ownPaths(sources)],
    // Its dispatcher alone: the rest (fetch, caches, mocks, WebSocket) is half a megabyte that each start would compile.
    resolve: { alias: { undici: join(import.meta.dirname, 'undici.js') } },
    transform: { target: 'node24' },
  });
  // Beside it, for what is moved must not leave its file system.
  const bundled = `${folder}.bundled`;
  rmSync(bundled, { recursive: true, force: true });
  const { output } = await built.write({
    dir: bundled,
    entryFileNames: '[name].js',
    chunkFileNames: 'parts/[name]-[hash].js',
    // Licenses ask to be kept. V8 keeps the whole text of what it runs.
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  refuseMissing(output);
  for (const file of output) if (file.type === 'chunk') writeFileSync(join(bundled, file.fileName), inAscii(file.code));
  // Types of a package's one export.
  renameSync(join(sources, 'cli/shapes/shapes.d.ts'), join(bundled, 'cli/shapes/shapes.d.ts'));
  rmSync(folder, { recursive: true });
  renameSync(bundled, folder);
}

if (import.meta.main) await bundle(resolve(process.argv[2] ?? 'dist'));
