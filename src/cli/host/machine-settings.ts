import { accessSync, constants } from 'node:fs';
import { hasSystemd } from '../../lib/has-systemd.ts';
import { SETTINGS_FILE } from '../../lib/own-command.ts';

/**
 * The settings file of a command without `--config`: that of the machine, if set-up has written one and no systemd starts the services with it.
 * Otherwise a start by hand would forget what set-up was given. Undefined if the user may not read it.
 */
export function settingsOfMachine({
  file = SETTINGS_FILE,
  isBootedBySystemd = hasSystemd(),
}: {
  file?: string;
  isBootedBySystemd?: boolean;
} = {}): string | undefined {
  if (isBootedBySystemd) return undefined;
  try {
    accessSync(file, constants.R_OK);
    return file;
  } catch {
    return undefined;
  }
}
