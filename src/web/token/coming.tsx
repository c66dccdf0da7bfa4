import { t } from '../messages.ts';

/** In the place of a token that is on its way. */
export function Coming() {
  return (
    <div class="token-coming" role="status" aria-label={t.token.loading}>
      <div class="bone head" />
      <div class="token-columns">
        <div class="bone chart" />
        <div class="bone side" />
      </div>
    </div>
  );
}
