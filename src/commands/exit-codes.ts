// What a command's exit code means. Source: DESIGN.md section 4; `--help` says the same.

export const exitDone = 0;
export const exitFailed = 1;
/** Usage or configuration is wrong. */
export const exitUsage = 2;
/** The store belongs to a newer version. */
export const exitNewerStore = 3;
