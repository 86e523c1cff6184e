// A folder with a configuration, which the end of a file's tests removes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LoadedConfig, loadConfig, type ValidConfig } from '../../src/config/load.ts';
import { formatProblem } from '../../src/world/schema/problem.ts';
import { folderOfFile } from './new-folder.ts';

export class ConfigFolder {
  readonly folder = folderOfFile();

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  load(text: string, environment: NodeJS.ProcessEnv = {}): LoadedConfig {
    this.write('config.yaml', text);
    return loadConfig(join(this.folder, 'config.yaml'), environment);
  }

  /** Loads a configuration that must be valid. */
  accept(text: string, environment: NodeJS.ProcessEnv = {}): ValidConfig {
    const loaded = this.load(text, environment);
    if (loaded.ok) return loaded;
    throw new Error(loaded.problems.map((problem) => formatProblem('config.yaml', problem)).join('\n'));
  }
}
