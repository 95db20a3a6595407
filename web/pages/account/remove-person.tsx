import { useQueryClient } from '@tanstack/react-query';
import { hosting, portal } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import type { Member } from '../../api/people.ts';
import { ConfirmDialog } from '../../components/dialog.tsx';
import { showSuccess } from '../../components/toast.tsx';
import { useSession } from '../../session/session.ts';
import { personName } from './person-name.ts';

/** Asks before somebody is removed, or leaves. `member`: null while nobody is asked about. */
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
      // Begins anew: nothing of the account is kept in the page.
      location.assign(document.baseURI);
      return;
    }
    await unwrapEmpty(
      hosting.DELETE('/accounts/{account_id}/account_users/{user_id}', {
        params: { path: { account_id, user_id } },
      }),
    );
    void queries.invalidateQueries({ queryKey: ['member', account_id] });
    showSuccess(`${name} is removed from the account.`);
  }

  return (
    <ConfirmDialog
      open={member !== null}
      onOpenChange={(open) => open || onClose()}
      title={self ? 'Leave this account?' : `Remove ${name}?`}
      description={
        self
          ? 'You lose its sites and installs at once, also by your API credentials and SSH keys. Somebody in the account can invite you again.'
          : 'They lose the sites and installs of this account at once, also by their API credentials and SSH keys. What they made stays. You can invite them again.'
      }
      confirmLabel={self ? 'Leave the account' : 'Remove'}
      onConfirm={remove}
    />
  );
}
