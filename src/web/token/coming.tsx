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

/** In the place of a form or a list that is on its way. */
export function ComingForm() {
  return (
    <div class="token-coming" role="status" aria-label={t.home.loading}>
      <div class="bone head" />
      <div class="bone side" />
    </div>
  );
}
