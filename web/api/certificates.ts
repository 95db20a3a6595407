import { useQuery } from '@tanstack/react-query';
import { type BodyOf, type HostingPaths, hosting } from './client.ts';
import { unwrap } from './failure.ts';

type CertificatePage = BodyOf<HostingPaths['/installs/{install_id}/ssl_certificates']['get']>;
export type Certificate = CertificatePage['certificates'][number];

const PAGE = 100;

/** Loads all certificates of an install, oldest first. */
export function useCertificates(installId: string) {
  return useQuery({
    queryKey: ['domain', installId, 'certificates'],
    queryFn: async () => {
      const certificates: Certificate[] = [];
      for (let token = '0'; token !== ''; ) {
        const page: CertificatePage = await unwrap(
          hosting.GET('/installs/{install_id}/ssl_certificates', {
            params: { path: { install_id: installId }, query: { limit: PAGE, offset: Number(token) } },
          }),
        );
        certificates.push(...page.certificates);
        token = page.next_page_token;
      }
      return certificates;
    },
  });
}
