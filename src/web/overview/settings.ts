// The settings in force, and those that a reader looks for.

/** A setting as people read it. */
export interface ShownSetting {
  /** `guard.min_bounces`, `accounts[0].name`. */
  readonly name: string;
  /** As the file would write it; a secret is hidden. */
  readonly value: string;
  /** `default`, `line 12`. */
  readonly from: string;
}

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
