import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { portal } from '../../../api/client.ts';
import { unwrap } from '../../../api/failure.ts';
import { Button } from '../../../components/button.tsx';
import { useSecondsUntil } from '../../../components/time.tsx';
import { showFailure } from '../../../components/toast.tsx';
import { reloadDomains } from './change-domain.ts';

/**
 * Checks all domains of an install. Each card shows its own result. `next` is when the next check is allowed; null
 * for now.
 */
export function CheckAll({ installId, next }: { installId: string; next: string | null }) {
  const queries = useQueryClient();
  const [pending, setPending] = useState(false);
  const seconds = useSecondsUntil(next);

  async function check() {
    setPending(true);
    try {
      await unwrap(
        portal.POST('/portal/api/installs/{install_id}/domains/check_all', {
          params: { path: { install_id: installId } },
        }),
      );
    } catch (error) {
      showFailure(error);
    } finally {
      await reloadDomains(queries, installId);
      setPending(false);
    }
  }

  return (
    <Button pending={pending} disabled={seconds > 0} onClick={check}>
      {seconds > 0 ? `Check all in ${seconds} s` : 'Check all'}
    </Button>
  );
}
