// `npm run docs`: writes what is made of the sources. A test says when it is out of date. With `--count` it prints the words of each page.
import { writeFileSync } from 'node:fs';
import { countText } from './count.ts';
import { generated } from './generated.ts';

if (process.argv.includes('--count')) {
  process.stdout.write(`${countText()}\n`);
} else {
  for (const [file, text] of await generated()) {
    writeFileSync(file, text);
    process.stdout.write(`${file}\n`);
  }
}
