import type { Command } from 'commander';
import { addHostAcceptAndDrain } from './accept.ts';
import { addHostAdd } from './add.ts';
import { addHostIdentity } from './identity.ts';
import { addHostList } from './list.ts';
import { addHostRemove } from './remove.ts';
import { addHostWordpress } from './wordpress.ts';

/** The machines that run websites, seen from the control plane. */
export function addHostCommand(program: Command): void {
  const host = program.command('host').description('the machines that run websites');
  addHostAdd(host);
  addHostList(host);
  addHostAcceptAndDrain(host);
  addHostIdentity(host);
  addHostWordpress(host);
  addHostRemove(host);
}
