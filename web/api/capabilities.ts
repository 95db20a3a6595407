import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

/** Capabilities of the host of an install, with the reasons for missing ones. */
export type Capability = BodyOf<
  HostingPaths['/installs/{install_id}/capabilities']['get']
>['capabilities'][number];
export type CapabilityName = Capability['name'];

/** Loads what the host of an install does for it, by name. */
export function useCapabilities(installId: string) {
  return useQuery({
    queryKey: ['install', installId, 'capabilities'],
    queryFn: async (): Promise<ReadonlyMap<CapabilityName, Capability>> => {
      const { capabilities } = await unwrap(
        hosting.GET('/installs/{install_id}/capabilities', { params: { path: { install_id: installId } } }),
      );
      return new Map(capabilities.map((capability) => [capability.name, capability]));
    },
  });
}

/** Returns a function that tells whether the host of an install does something. It is false until that is known. */
export function useHas(installId: string): (name: CapabilityName) => boolean {
  const { data } = useCapabilities(installId);
  return (name) => data?.get(name)?.available === true;
}
