import { useQuery } from '@tanstack/react-query';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';

/** The versions of PHP and what runs PHP. */
export function useOfferedPhp(installId: string) {
  return useQuery({
    queryKey: ['install', installId, 'php'],
    queryFn: () =>
      unwrap(
        portal.GET('/portal/api/installs/{install_id}/php_versions', {
          params: { path: { install_id: installId } },
        }),
      ),
  });
}
