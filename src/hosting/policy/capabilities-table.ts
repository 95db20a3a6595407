import { markdownTable, withTable } from '../../lib/document-table.ts';
import { CAPABILITIES, type Capability } from '../contract/capabilities.ts';
import type { Runtime } from '../contract/install-state.ts';
import { capabilityOf, type HostFacts, titleOf } from './capabilities.ts';

/** Hosts that lack nothing which an operator can add. */
const EMBEDDED: HostFacts = { kind: 'embedded', runsPhp: true, hasMailServer: true };

const embedded = (capability: Capability, runtime: Runtime): string => {
  const state = capabilityOf(capability, runtime, EMBEDDED);
  return state.available ? 'yes' : `no: ${state.reason} ${state.remedy}`;
};

/** What hosts do for installs as a Markdown table: Linux hosts do all of it, if nothing that they need is missing. */
function capabilitiesTable(): string {
  return markdownTable(
    ['Capability', 'What you get', 'Embedded host, WordPress', 'Embedded host, files', 'Linux host'],
    CAPABILITIES.map((capability) => [
      `\`${capability}\``,
      titleOf(capability),
      embedded(capability, 'wordpress'),
      embedded(capability, 'static').startsWith('yes') ? 'yes' : 'no',
      'yes',
    ]),
  );
}

/** Returns the document with the current table between the markers `capabilities`. */
export const withCapabilitiesTable = (document: string): string =>
  withTable(document, 'capabilities', capabilitiesTable());
