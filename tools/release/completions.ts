// Writes the completion scripts that the package carries: `npm pack` calls it once dist is built.
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { allCommands } from '../../src/cli/commands.ts';
import { completionText } from '../../src/cli/completion.ts';

const folder = fileURLToPath(new URL('../../dist/completions/', import.meta.url));
const files = { bash: 'warmwarden.bash', zsh: '_warmwarden', fish: 'warmwarden.fish' } as const;

mkdirSync(folder, { recursive: true });
const commands = await allCommands();
for (const shell of ['bash', 'zsh', 'fish'] as const)
  writeFileSync(`${folder}${files[shell]}`, completionText(shell, commands));
