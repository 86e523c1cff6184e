// The whole configuration for a command that needs it, or its problems as the error that ends it.
import { loadConfig, type ValidConfig } from '../config/load.ts';
import { configurationError } from './configuration.ts';

/** Throws a CommandError with every problem of the file, or of these sections, when only they are needed. */
export function loadConfigured(file: string, sections: Parameters<typeof loadConfig>[2] = null): ValidConfig {
  const loaded = loadConfig(file, process.env, sections);
  if (loaded.ok) return loaded;
  throw configurationError(file, loaded.problems);
}
