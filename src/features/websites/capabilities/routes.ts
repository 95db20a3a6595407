import { type Route, route } from '../../../api/route.ts';
import { titleOf } from '../../../hosting/policy/capabilities.ts';
import type { NamedCapability } from '../../hosts/capabilities.ts';
import { capabilitiesSchema } from './schema.ts';
import type { CapabilityService } from './service.ts';

export function capabilityRoutes(capabilities: Pick<CapabilityService, 'list'>): Route[] {
  return [
    route({
      method: 'GET',
      path: '/installs/:install_id/capabilities',
      operationId: 'getInstallCapabilities',
      summary: 'List what the host of an install does for it',
      description:
        'Hosts differ: the embedded host has no shell, for example, and websites of files have no WordPress. Every capability is listed, with the reason and the remedy if it is not available. Requests that need one that is not available are refused with the code `capability_unavailable`, before any work starts. Clients should ignore names that they do not know.',
      tag: 'Installs',
      errors: [401, 403, 404, 429, 503],
      success: 200,
      response: capabilitiesSchema,
      handle: async ({ caller, id }) =>
        presentCapabilities(await capabilities.list(caller, id('install_id'))),
    }),
  ];
}

/** The capabilities of an install as the API and the command line show them. */
export function presentCapabilities(capabilities: readonly NamedCapability[]) {
  return {
    capabilities: capabilities.map((state) => ({
      name: state.name,
      title: titleOf(state.name),
      available: state.available,
      reason: state.available ? null : state.reason,
      remedy: state.available ? null : state.remedy,
    })),
  };
}
