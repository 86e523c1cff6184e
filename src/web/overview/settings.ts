// The settings in force, and those that a reader looks for.

import type { ShownSetting } from '../route-parts.ts';

export interface SettingSelection {
  /** Words that the name or the value must contain. Empty: all. */
  readonly text: string;
  /** Only what is not the default. */
  readonly changedOnly: boolean;
}

export function settingsThat(settings: readonly ShownSetting[], { text, changedOnly }: SettingSelection) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return settings.filter(
    ({ name, value, from }) =>
      (!changedOnly || from !== 'default') &&
      words.every((word) => name.toLowerCase().includes(word) || value.toLowerCase().includes(word)),
  );
}
