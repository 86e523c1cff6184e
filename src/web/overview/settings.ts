// The settings in force, and a selection of them.

import type { ShownSetting } from '../route-parts.ts';

export interface SettingSelection {
  readonly text: string;
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
