import type { Logger } from 'pino';
import type { ListenAddress } from '../../../config/settings/setting-values.ts';
import type { InstallRef } from '../../contract/install-ref.ts';
import type { UsageLedger } from '../../policy/usage/ledger.ts';
import type { HostLogs } from '../../websites/logs/host-logs.ts';
import type { WordPressCores } from '../../wordpress/cores.ts';
import type { Backups } from '../backups/backups.ts';
import type { DatabaseQuotas } from '../daemons/database-quotas.ts';
import type { DatabaseShares } from '../daemons/database-shares.ts';
import type { DatabaseServer } from '../daemons/mariadb.ts';
import type { ImportStaging } from '../imports/staged-website.ts';
import type { Firewall } from '../isolation/firewall.ts';
import type { Walls } from '../isolation/walls.ts';
import type { Cron } from '../machine/cron.ts';
import type { Journal } from '../machine/journal.ts';
import type { Records } from '../machine/record.ts';
import type { Submitter } from '../mail/submission.ts';
import type { SshServer } from '../ssh/ssh-server.ts';
import type { DatabaseTemplates } from '../wordpress/database-templates.ts';
import type { WpCliPhar } from '../wp-cli/phar.ts';
import type { WpCli } from '../wp-cli/run-wp-cli.ts';
import type { LinuxDatabaseLinks } from './database-link.ts';
import type { LiveInstalls } from './live-installs.ts';
import type { WebsiteRemains } from './provisioning.ts';
import type { WebsiteParts } from './website-parts.ts';

/** The parts of the Linux host; src/app/linux-host-machine.ts puts them together. */
export interface LinuxHostParts extends WebsiteParts {
  /** Id given by a control plane on another machine; null: the host makes one up. */
  givenId: string | null;
  /** Number of installs it can hold; null: as many as memory and disk allow. */
  capacity: number | null;
  edgeHttp: ListenAddress;
  edgeHttps: ListenAddress;
  databaseServer: DatabaseServer;
  cores: WordPressCores;
  /** Where WordPress lists its releases. */
  releasesUrl: string;
  templates: DatabaseTemplates;
  firewall: Firewall;
  backups: Backups;
  imports: ImportStaging;
  ssh: SshServer;
  cron: Cron;
  databaseQuotas: DatabaseQuotas;
  databaseShares: DatabaseShares;
  walls: Walls;
  /** The envelope sender and the mail limit of an install. */
  submitterOf(install: InstallRef): Submitter;
  createDatabaseLink: LinuxDatabaseLinks;
  wpCliPhar: WpCliPhar;
  wpCli: WpCli;
  usage: UsageLedger;
  logs: HostLogs;
  records: Records;
  /** Records of installs that are set aside. */
  aside: Records;
  journal: Journal;
  /** Records of complete installs, for frequent lookups. */
  live: LiveInstalls;
  log: Logger;
  /** Whether the name is that of a temporary copy (a trial restore). */
  isTrial(installName: string): boolean;
  /** Called after each provisioning step, so that tests can interrupt there. */
  reached?: ((step: string, website: WebsiteRemains) => void) | undefined;
}
