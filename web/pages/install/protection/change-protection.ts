import type { QueryClient } from '@tanstack/react-query';
import { hosting } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { ofInstall, type ProtectionChange } from '../../../api/rules.ts';
import { showSuccess } from '../../../components/toast.tsx';

/** Changes the protection of an install and says so. */
export async function changeProtection(
  queries: QueryClient,
  installId: string,
  change: ProtectionChange,
  sentence: string,
): Promise<void> {
  const protection = await unwrap(
    hosting.PATCH('/installs/{install_id}/protection', { ...ofInstall(installId), body: change }),
  );
  queries.setQueryData(['rules', installId, 'protection'], protection);
  await queries.invalidateQueries({ queryKey: ['operation', installId] });
  showSuccess(sentence);
}
