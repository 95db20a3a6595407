import type { Clock } from '../../../lib/clock.ts';
import type { Randomness } from '../../../lib/ids.ts';
import type { PhpBounds } from '../../../lib/php-limits.ts';
import type { CheckPace } from '../../websites/probe/probing.ts';
import type { Cgroups } from '../daemons/cgroups.ts';
import type { Databases } from '../daemons/databases.ts';
import type { ProjectQuotas } from '../isolation/project-quotas.ts';
import type { UnixUsers } from '../isolation/unix-users.ts';
import type { Daemons, ResourceLimits } from '../machine/daemon.ts';
import type { LinuxLayout } from '../machine/layout.ts';
import type { MailQueue } from '../mail/mail-queue.ts';
import type { MailSockets } from '../mail/mail-sockets.ts';
import type { WebServer } from '../nginx/web-server.ts';
import type { PurgeSockets } from '../purges/purge-sockets.ts';
import type { CompiledCores } from '../wordpress/compiled-cores.ts';
import type { Websites } from '../wordpress/website.ts';

/** The parts that websites of this machine are provisioned with. */
export interface WebsiteParts {
  layout: LinuxLayout;
  users: UnixUsers;
  quotas: ProjectQuotas;
  databases: Databases;
  websites: Websites;
  compiledCores: CompiledCores;
  daemons: Daemons;
  cgroups: Cgroups;
  web: WebServer;
  purges: PurgeSockets;
  mailSockets: MailSockets;
  mail: MailQueue;
  /** Limits of an install, including its logins and WP-Cron. */
  limits: ResourceLimits;
  /** Limits of an install's PHP. */
  phpBounds: PhpBounds;
  clock: Clock;
  random: Randomness;
  /** How long the checks of a change wait; `CHECK_PACE` if left out. */
  checkPace?: Partial<CheckPace> | undefined;
}
