// `npm run docs`: writes what is made of the sources. A test says when it is out of date.
import { writeFileSync } from 'node:fs';
import { generated } from './generated.ts';

for (const [file, text] of await generated()) {
  writeFileSync(file, text);
  process.stdout.write(`${file}\n`);
}
