import { useMutation } from '@tanstack/react-query';
import { portal } from '../../api/client.ts';
import { unwrapEmpty } from '../../api/failure.ts';
import type { Member } from '../../api/people.ts';
import { RowMenu } from '../../components/table.tsx';
import { showFailure, showSuccess } from '../../components/toast.tsx';
import styles from './account.module.css';
import { personName } from './person-name.ts';
import { type MemberRole, parseRoles, reasonNotToChange } from './roles.ts';

/** The actions that the user may perform on a member, or why there are none. */
export function PersonActions({
  member,
  actor,
  self,
  onChange,
  onRemove,
}: {
  member: Member;
  actor: MemberRole;
  /** Whether the member is the user. */
  self: boolean;
  onChange(member: Member): void;
  onRemove(member: Member): void;
}) {
  const send = useMutation({
    mutationFn: () => resend(member),
    onSuccess: () => showSuccess(`Sent the invitation to ${member.email} again.`),
    onError: showFailure,
  });
  const obstacle = obstacleOf(member, actor, self);
  if (obstacle !== null) {
    return (
      <span className={`${styles.soft} ${styles.oneLine}`} title={obstacle}>
        {obstacle}
      </span>
    );
  }
  const mayChange = reasonFor(member, actor) === null;
  return (
    <RowMenu
      name={personName(member)}
      entries={[
        ...(mayChange ? [{ label: 'Change role', onSelect: () => onChange(member) }] : []),
        ...(mayChange && !member.invite_accepted
          ? [{ label: 'Resend invitation', onSelect: () => send.mutate() }]
          : []),
        { label: self ? 'Leave this account' : 'Remove', onSelect: () => onRemove(member) },
      ]}
    />
  );
}

/** Returns why the user has no action for a member; null if they have one. */
function obstacleOf(member: Member, actor: MemberRole, self: boolean): string | null {
  const reason = reasonFor(member, actor);
  const mayEnd = self ? !(member.last_owner ?? false) : reason === null;
  return mayEnd ? null : reason;
}

const reasonFor = (member: Member, actor: MemberRole) =>
  reasonNotToChange(actor, { ...parseRoles(member.roles), lastOwner: member.last_owner ?? false });

const resend = ({ account_id, user_id }: Member) =>
  unwrapEmpty(
    portal.POST('/portal/api/accounts/{account_id}/account_users/{user_id}/invitation', {
      params: { path: { account_id, user_id } },
    }),
  );
