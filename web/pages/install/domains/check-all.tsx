import { useMutation, useQueryClient } from '@tanstack/react-query';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { useSecondsUntil } from '../../../components/time.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { reloadDomains } from './change-domain.ts';

/**
 * Checks all domains of an install. Each row shows its own result. `next` is when the next check is allowed; null
 * for now.
 */
export function CheckAll({ installId, next }: { installId: string; next: string | null }) {
  const queries = useQueryClient();
  const seconds = useSecondsUntil(next);

  const check = useMutation({
    mutationFn: () =>
      unwrap(
        portal.POST('/portal/api/installs/{install_id}/domains/check_all', {
          params: { path: { install_id: installId } },
        }),
      ),
    onError: showFailure,
    onSettled: () => reloadDomains(queries, installId),
  });

  return (
    <Button pending={check.isPending} disabled={seconds > 0} onClick={() => check.mutate()}>
      {seconds > 0 ? `Check all in ${seconds} s` : 'Check all'}
    </Button>
  );
}
