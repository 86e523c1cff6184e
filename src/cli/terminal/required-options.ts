// --help says what a command cannot do without: its required options, in the line of its usage and beside each of them.
import { type Command, Help, type HelpConfiguration } from 'commander';

const usual = new Help();

export const showsRequired: HelpConfiguration = {
  commandUsage: (command) =>
    usual.commandUsage(command).replace('[options]', (options) => withRequired(command, options)),
  optionDescription: (option) => `${usual.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
};

function withRequired({ options }: Command, usualWord: string): string {
  const required = options.filter(({ mandatory }) => mandatory).map(({ flags }) => flags);
  return [...required, usualWord].join(' ');
}
