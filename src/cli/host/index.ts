import type { Command } from 'commander';
import { addHostAcceptAndDrain } from './accept.ts';
import { addHostAdd } from './add.ts';
import { addHostAdopt } from './adopt.ts';
import { addHostBackups } from './backups.ts';
import { addHostChange } from './change.ts';
import { addHostForget } from './forget.ts';
import { addHostIdentity } from './identity.ts';
import { addHostList } from './list.ts';
import { addHostLost } from './lost.ts';
import { addHostMail } from './mail.ts';
import { addHostPhp } from './php.ts';
import { addHostRebalance } from './rebalance.ts';
import { addHostRebuild } from './rebuild.ts';
import { addHostRecords } from './records.ts';
import { addHostRemove } from './remove.ts';
import { addHostRun } from './run.ts';
import { addHostSetup } from './setup.ts';
import { addHostTakeOver } from './take-over.ts';
import { addHostWordpress } from './wordpress.ts';
import { addHostWpCli } from './wp-cli.ts';

/** Adds the commands for the host of this machine, and for the hosts of the control plane. */
export function addHostCommand(program: Command): void {
  const host = program.command('host').summary('run the websites of this machine; manage hosts');
  addHostRun(host);
  addHostSetup(host);
  addHostAdd(host);
  addHostList(host);
  addHostChange(host);
  addHostRecords(host);
  addHostAcceptAndDrain(host);
  addHostRebalance(host);
  addHostIdentity(host);
  addHostWordpress(host);
  addHostPhp(host);
  addHostMail(host);
  addHostWpCli(host);
  addHostBackups(host);
  addHostForget(host);
  addHostLost(host);
  addHostRebuild(host);
  addHostRemove(host);
  addHostTakeOver(host);
  addHostAdopt(host);
}
