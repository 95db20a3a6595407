import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { portal } from '../../api/client.ts';
import { unwrap } from '../../api/failure.ts';
import { SESSION_KEY } from '../../api/query-keys.ts';
import { showSuccess } from '../../components/toast.tsx';
import { announceSession } from '../../session/other-windows.ts';
import { noticeState, type Word } from './sign-in-notice.ts';

/**
 * Returns a function that signs users in with the password that they have just chosen, as the sign-in page would. A
 * second factor is still required. If the server refuses, the sign-in page shows the notice.
 */
export function useChosenPassword(): (email: string, password: string, notice: Word) => Promise<void> {
  const queries = useQueryClient();
  const [, navigate] = useLocation();
  return async (email, password, notice) => {
    let state: unknown = null;
    try {
      await unwrap(portal.POST('/portal/api/session', { body: { email, password } }));
      announceSession('changed');
      showSuccess('Your password is set.');
    } catch {
      state = noticeState(notice, email);
    }
    queries.removeQueries({ queryKey: SESSION_KEY });
    navigate('/sign-in', { state });
  };
}
