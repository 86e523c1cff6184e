// `npm run docs`: writes what is made of the sources. A test says when it is out of date. With `--count` it prints the words of
// each page and how long the sentences are; with `--count FOLDER` how long those of other documents are, for comparison.
import { writeFileSync } from 'node:fs';
import { countText, pageTexts } from './count.ts';
import { generated } from './generated.ts';
import { styleOf, styleOfFolder, styleText } from './style.ts';

if (process.argv.includes('--count')) {
  const folder = process.argv[process.argv.indexOf('--count') + 1];
  const said = folder
    ? styleText(folder, styleOfFolder(folder))
    : `${countText()}\n${styleText('all', styleOf(pageTexts()))}`;
  process.stdout.write(`${said}\n`);
} else {
  for (const [file, text] of await generated()) {
    writeFileSync(file, text);
    process.stdout.write(`${file}\n`);
  }
}
