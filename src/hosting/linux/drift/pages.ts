import { type PageFault, probeVisitors } from '../../websites/probe/visitor-probe.ts';
import type { SandboxedInstall } from '../isolation/sandbox.ts';
import { phpDaemon, type Website } from '../websites/provisioning.ts';
import { loosenModes, takeOwnership } from '../wordpress/permissions.ts';
import type { Fault } from './finding.ts';
import type { InspectedHost } from './inspected-host.ts';

/** PHP cannot even read such a file, so nothing of the host is at fault. */
const SYNTAX_ERROR = /syntax error|unexpected (?:token|end of file)/i;

/**
 * Requests the pages of a website as its visitors do. A page that fails is repaired by what the host may do: owners, then modes, then
 * another PHP process. The code of the customer is only named.
 */
export async function checkPages(
  host: InspectedHost,
  website: Website,
  install: SandboxedInstall,
): Promise<Fault[]> {
  const found = await failingPages(host, website);
  let repaired: Promise<void> | undefined;
  const repair = () => {
    repaired ??= repairPages(host, website, install);
    return repaired;
  };
  return found.map(({ text }) => ({
    message: sentence(text),
    repair: SYNTAX_ERROR.test(text) ? null : repair,
    remedy: `The error is in the files of the customer. Correct it there, or restore a backup: homeport backup list --install ${website.name}`,
  }));
}

async function failingPages({ steps }: InspectedHost, website: Website): Promise<PageFault[]> {
  const look = await steps.lookAt(website);
  const faults = await probeVisitors(look, { fatals: look.fatals });
  // Maintenance pages of plugins.
  return faults.filter(({ isMaintenance }) => !isMaintenance);
}

/** Rejects with the first page that still fails. */
async function repairPages(host: InspectedHost, website: Website, install: SandboxedInstall): Promise<void> {
  const { layout, daemons, web } = host;
  await takeOwnership(layout, install);
  await loosenModes(layout, install);
  let [fault] = await failingPages(host, website);
  if (fault !== undefined) {
    await daemons.restart(phpDaemon(website.id));
    [fault] = await failingPages(host, website);
  }
  if (fault !== undefined) throw new Error(`${fault.text}.`);
  // The page cache may have kept what visitors got meanwhile.
  await web.purge(website.id);
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
