import type { Logger } from 'pino';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import type { Clock } from '../../../lib/clock.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { Backups } from '../backups/backups.ts';
import type { DatabaseServer } from '../daemons/mariadb.ts';
import type { Firewall } from '../isolation/firewall.ts';
import type { Cron } from '../machine/cron.ts';
import type { Journal } from '../machine/journal.ts';
import type { Records } from '../machine/record.ts';
import type { SshServer } from '../ssh/ssh-server.ts';
import type { WordPressCores } from '../wordpress/cores.ts';
import type { DatabaseTemplates } from '../wordpress/database-templates.ts';
import type { LiveInstalls } from './live-installs.ts';
import type { WebsiteRemains } from './provisioning.ts';
import type { WebsiteParts } from './website-parts.ts';

/** Everything that the Linux host is made of; src/app/linux-host.ts puts it together. */
export interface LinuxHostParts extends WebsiteParts {
  /** The id that a control plane on another machine has given to this host; null: it gives itself one. */
  givenId: string | null;
  /** How many installs it has room for; null: what its memory and disk allow. */
  capacity: number | null;
  edgeHttp: ListenAddress;
  databaseServer: DatabaseServer;
  cores: WordPressCores;
  templates: DatabaseTemplates;
  firewall: Firewall;
  backups: Backups;
  ssh: SshServer;
  cron: Cron;
  records: Records;
  /** The records of installs that are put aside. */
  aside: Records;
  journal: Journal;
  /** The records of the installs that are whole, for what asks often. */
  live: LiveInstalls;
  log: Logger;
  clock: Clock;
  random: Randomness;
  /** Whether an install of this name is a copy that is there for a moment, made to try something with it. */
  isTrial(installName: string): boolean;
  /** Called after each step of the making of a website: where a test breaks off. */
  reached?: ((step: string, website: WebsiteRemains) => void) | undefined;
}
