import { useQueryClient } from '@tanstack/react-query';
import { hosting, portal } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import type { Member } from '../../api/people.ts';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useSession } from '../../session/session.ts';
import { personName } from './person-name.ts';

/** Asks before a member is removed or leaves. The dialog is closed while `member` is null. */
export function RemovePersonDialog({ member, onClose }: { member: Member | null; onClose(): void }) {
  const { user } = useSession();
  const queries = useQueryClient();
  const self = member?.user_id === user.id;
  const name = member ? personName(member) : '';

  async function remove() {
    if (!member) return;
    const { account_id, user_id } = member;
    if (self) {
      await unwrapEmpty(
        portal.DELETE('/portal/api/accounts/{account_id}/membership', { params: { path: { account_id } } }),
      );
      // A full reload removes all data of the account from memory.
      location.assign(document.baseURI);
      return;
    }
    await unwrapEmpty(
      hosting.DELETE('/accounts/{account_id}/account_users/{user_id}', {
        params: { path: { account_id, user_id } },
      }),
    );
    void queries.invalidateQueries({ queryKey: ['member', account_id] });
    showSuccess(`Removed ${name} from the account.`);
  }

  return (
    <ConfirmDialog
      open={member !== null}
      onOpenChange={(open) => open || onClose()}
      title={self ? 'Leave this account?' : `Remove ${name}?`}
      description={
        self
          ? 'You lose access to its sites and installs immediately, also with your API credentials and SSH keys. You can be invited again.'
          : 'They lose access to this account immediately, also with their API credentials and SSH keys. Their sites and installs stay. You can invite them again.'
      }
      confirmLabel={self ? 'Leave account' : 'Remove'}
      onConfirm={remove}
    />
  );
}
