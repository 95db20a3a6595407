import { BACKUP_COMMANDS } from './backup-commands.ts';
import { MACHINE_COMMANDS } from './machine-commands.ts';
import { MOVE_COMMANDS } from './move-commands.ts';
import { WEBSITE_COMMANDS } from './website-commands.ts';
import { WORDPRESS_COMMANDS } from './wordpress-commands.ts';

/**
 * Every operation of a host that another process can call, by its method in {@link HostMachine}, which describes it. The client, the server,
 * the fleet and the list in docs/decisions/host-commands.md are derived from it.
 */
export const COMMANDS = {
  ...WEBSITE_COMMANDS,
  ...BACKUP_COMMANDS,
  ...WORDPRESS_COMMANDS,
  ...MACHINE_COMMANDS,
  ...MOVE_COMMANDS,
};
