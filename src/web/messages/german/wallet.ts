/** German of the wallet's page: keys, portfolio, own orders and locks. */
import type { Messages } from '../english.ts';

export const WALLET: Messages['wallet'] = {
  title: 'Wallet',
  connection: 'Verbindung',
  balance: 'Guthaben',
  more: { one: 'und # weitere', other: 'und # weitere' },
  first: 'Verbinde zuerst eine Wallet.',
  changed: 'Inzwischen wurde eine andere Wallet verbunden. Fang noch einmal an.',
  noChain: 'Dieser Server hat keine Kette: es gibt nichts zu handeln.',
  nothingToSign: 'Dieser Server hat keine Kette: es gibt nichts zu signieren.',
  make: 'Test-Wallet anlegen',
  connect: 'Wallet verbinden',
  test: 'Test-Wallet',
  testCaution:
    'Ihr Schlüssel liegt ungeschützt in diesem Browser. Sie ist für die Coins dieses Devnets, ' +
    'die ' +
    'nichts wert sind: benutze einen solchen Schlüssel nie woanders.',
  useTest: 'Test-Wallet benutzen',
  importKey: 'Schlüssel importieren',
  importCaution:
    'Nur ein Schlüssel dieses Devnets: er liegt ungeschützt hier, und jedes Skript dieser Seite ' +
    'kann ihn lesen. Füge nie den Schlüssel einer Wallet mit echten Coins ein, auch nicht, wenn ' +
    'dich jemand darum bittet.',
  secret: 'Geheimer Schlüssel',
  secretHint: '64 Hex-Ziffern, wie eine Test-Wallet sie ausgibt.',
  importIt: 'Importieren',
  ofBrowser: 'Wallet dieses Browsers',
  connectTo: (name) => `${name} verbinden`,
  noExtension: 'In diesem Browser ist keine Wallet installiert. Jede, die CIP-30 kann, passt.',
  devnetCoins: 'Coins dieses Devnets, ohne Wert.',
  get: (ada) => `${ada} ADA holen`,
  coinsSent: 'Abgeschickt; sie gehören dir, wenn ein Block sie hat.',
  coinsCame: (ada) => `${ada} ADA sind angekommen.`,
  coinsUnseen: 'Noch in keinem Block gesehen.',
  copy: 'Kopieren',
  copied: 'Kopiert',
  selectIt: 'Bitte markieren',
  copyAddress: 'Adresse kopieren',
  copyKey: 'Geheimen Schlüssel kopieren',
  disconnect: 'Trennen',
  keyCaution:
    'Eine Test-Wallet: ihr Schlüssel liegt ungeschützt in diesem Browser. Schicke ihr nie echte ' +
    'Coins.',
  showKey: 'Geheimen Schlüssel zeigen',
  showKeyMeans:
    'Wer diesen Schlüssel sieht, kann alles ausgeben, was die Wallet hat, jetzt und später. ' +
    'Zeige ' +
    'ihn nur, wo niemand und keine Kamera zusieht, und bewahre die Kopie sicher auf.',
  showIt: 'Zeigen',
  hideKey: 'Geheimen Schlüssel verbergen',
  notKept: 'Er ist hier nicht mehr gespeichert.',
  forget: 'Diese Wallet vergessen',
  forgetTitle: 'Die Test-Wallet vergessen',
  forgetMeans:
    'Ihr Schlüssel wird aus diesem Browser gelöscht. Ohne eine Kopie des Schlüssels sind ihre ' +
    'Coins, Orders und Sperren für immer verloren.',
  forgetIt: 'Vergessen',
  keepIt: 'Behalten',
  others: 'Andere Wallets dieses Browsers',
  switchTo: (address) => `Wallet ${address} benutzen`,
  use: 'Benutzen',
  add: 'Weitere Test-Wallet anlegen',
};

export const KEYS: Messages['keys'] = {
  tooMany: (most) => `Dieser Browser behält ${most} Test-Wallets: vergiss zuerst eine davon.`,
  none: 'Füge einen geheimen Schlüssel ein.',
  unreadable: 'Ein geheimer Schlüssel hat 64 Hex-Ziffern (0 bis 9, a bis f).',
  noStorage: (why) => `Dieser Browser speichert nichts für diese Seite: ${why}`,
};

const said = (words: string | null) => (words === null ? '' : ` Sie sagt: ${words}`);

export const EXTENSION: Messages['extension'] = {
  noApi: 'Die Wallet hat zugestimmt, aber nichts gegeben, was man fragen kann.',
  noNetwork: 'Die Wallet sagt nicht, in welchem Netzwerk sie ist.',
  noOutputs: 'Die Wallet hat keine Liste von Outputs gegeben.',
  unreadable: {
    address: 'Die Wallet hat keine lesbare Adresse gegeben.',
    balance: 'Die Wallet hat kein lesbares Guthaben gegeben.',
    output: 'Die Wallet hat keinen lesbaren Output gegeben.',
    signature: 'Die Wallet hat keine lesbare Signatur gegeben.',
  },
  cannot: (method) => `Die Wallet kann ${method} nicht.`,
  noAnswer: (method) => `Die Wallet hat auf ${method} nicht geantwortet. Lade die Seite neu.`,
  declined: (words) => `Du hast in der Wallet abgelehnt.${said(words)}`,
  accountChanged: (words) =>
    `Die Wallet hat ihr Konto gewechselt: verbinde sie noch einmal.${said(words)}`,
  noKey: (words) => `Die Wallet hat keinen Schlüssel für diese Transaktion.${said(words)}`,
  refused: (words) => `Die Wallet hat abgelehnt.${said(words)}`,
  failed: (words) => `Die Wallet ist gescheitert: ${words}`,
  noOwnKey: (name) =>
    `${name} hat eine Adresse ohne eigenen Schlüssel: damit kann hier nicht gehandelt werden.`,
  onTestnet: (name, here) =>
    `${name} ist in einem Testnetz, dieser Server ist in ${here}. ` +
    'Stelle die Wallet auf das Mainnet um und verbinde sie noch einmal.',
  onMainnet: (name, here) =>
    `${name} ist im Mainnet, dieser Server ist in ${here}. ` +
    'Stelle die Wallet auf ein Testnetz um und verbinde sie noch einmal.',
};

export const PORTFOLIO: Messages['portfolio'] = {
  title: 'Portfolio',
  allWallets: { one: 'Alle # Wallets', other: 'Alle # Wallets' },
  value: 'Wert der Token',
  realized: 'Realisiert',
  unrealized: 'Unrealisiert',
  gain: 'Gewinn',
  spent: 'Ausgegeben',
  none: 'Noch kein Token. Was du kaufst, steht hier: was es kostet und wert ist.',
  overTime: 'Gewinn und Verlust über die Zeit',
  span: 'Zeitspanne',
  spans: { day: '24h', month: '30T', all: 'Alles' },
  point: (when, gain) => `${when}: ${gain}`,
  noHistory: 'Noch keine Linie: dafür braucht es zwei Punkte in dieser Zeitspanne.',
  tokens: 'Token',
  picture: {
    share: 'Als Bild teilen',
    title: 'Gewinn und Verlust als Bild',
    gain: 'Gewinn und Verlust',
    save: 'Bild speichern',
    send: 'Teilen',
    failed: 'Dieser Browser zeichnet keine Bilder.',
  },
  columns: {
    token: 'Token',
    balance: 'Guthaben',
    value: 'Wert',
    average: 'Gekauft zu',
    price: 'Preis',
    realized: 'Realisiert',
    unrealized: 'Unrealisiert',
    gain: 'Gewinn',
  },
};

export const ORDERS: Messages['orders'] = {
  open: 'Offene Orders',
  history: 'Verlauf',
  asFile: 'Als CSV speichern',
  saved: { one: '# Order gespeichert.', other: '# Orders gespeichert.' },
  noFile: (status) =>
    `Der Server hat den Verlauf nicht gegeben (Status ${status}). Versuche es noch einmal.`,
  none: {
    all: 'Du hast hier noch keine Orders.',
    open: 'Du hast keine offenen Orders.',
    ended: 'Noch ist keine deiner Orders beendet.',
  },
  loading: 'Deine Orders werden geladen.',
  trouble: (why) => `Deine Orders: ${why}`,
  ended: (when) => `beendet ${when}`,
  atLeast: (offered, least) => `${offered} → mindestens ${least}`,
  soFar: (offered, got) => `${offered} → ${got} bisher`,
  explained: (meaning, placed, until) =>
    until === null
      ? `${meaning} Aufgegeben ${placed}.`
      : `${meaning} Aufgegeben ${placed}. Rückgabe möglich ab ${until}.`,
  cancel: 'Stornieren',
  cancelOne: (side, terms) => `Stornieren: ${side} ${terms}`,
  cancelBuy: 'Diesen Kauf stornieren',
  cancelSell: 'Diesen Verkauf stornieren',
  cancelMeans: (terms) => `${terms}: was sie bietet, kommt in deine Wallet zurück.`,
  cancelWords: 'Deine Order wird dir zurückgegeben.',
  signCancel: 'Signieren und Order stornieren',
  keep: 'Order behalten',
  cancelSent: 'Der Storno ist abgeschickt. Er gilt, wenn ein Block ihn hat.',
};

export const STATES: Messages['states'] = {
  MempoolPending: {
    name: 'Wird aufgegeben',
    meaning: 'Abgeschickt, wartet auf einen Block. Bis dahin kann sie noch verschwinden.',
  },
  Pending: {
    name: 'Offen',
    meaning:
      'Auf der Kette. Sie wird ausgeführt, wenn der Preis es zulässt, in der Reihenfolge der ' +
      'Ankunft.',
  },
  MempoolEvaluated: {
    name: 'In Ausführung',
    meaning:
      'Ihre Ausführung ist abgeschickt und wartet auf einen Block. Ein Rollback kann das noch ' +
      'rückgängig machen.',
  },
  Evaluated: { name: 'Ausgeführt', meaning: 'Ausgeführt: Token oder Coins wurden ausgezahlt.' },
  MempoolRefunded: {
    name: 'In Rückgabe',
    meaning: 'Sie wird zurückgegeben: das ist abgeschickt und wartet auf einen Block.',
  },
  Refunded: {
    name: 'Zurückgegeben',
    meaning: 'Ohne Handel beendet; was sie bot, ging an den Eigentümer zurück.',
  },
  Dropped: {
    name: 'Verworfen',
    meaning: 'Ihre Transaktion kam nie in einen Block: nichts wurde ausgegeben.',
  },
  cancelled: { name: 'Storniert', meaning: 'Vom Eigentümer storniert; was sie bot, ging zurück.' },
  expired: {
    name: 'Abgelaufen',
    meaning:
      'Nicht rechtzeitig ausgeführt; was sie bot, ging zurück, ohne die Gebühr der Rückgabe.',
  },
};

export const LOCKS: Messages['locks'] = {
  own: 'Sperren',
  none: 'Du hast keine Sperren. Token werden auf der Seite ihres Tokens gesperrt.',
  opensIn: (left) => `öffnet in ${left}`,
  open: 'offen',
  withdraw: 'Abheben',
  withdrawOne: (amount, ticker) => `${amount} ${ticker} abheben`,
  title: (ticker) => `${ticker} abheben`,
  words: 'Das Gesperrte gehört wieder dir.',
  sign: 'Signieren und abheben',
  sent: 'Abgeschickt. Die Token gehören dir, wenn ein Block es hat.',
  monthBefore: 'Der Monat davor',
  monthAfter: 'Der nächste Monat',
  opensOn: (day) => ({ one: `${day}: # Sperre öffnet`, other: `${day}: # Sperren öffnen` }),
};

export const NOTICES: Messages['notices'] = {
  buyOf: (ticker) => `Kauf von ${ticker}`,
  sellOf: (ticker) => `Verkauf von ${ticker}`,
  transaction: 'Transaktion',
  txCopied: 'Transaktions-ID kopiert.',
  txOfTrade: 'Transaktion des Trades',
  txPlaced: 'Transaktion, mit der die Order aufgegeben wurde',
  txEnded: 'Transaktion, mit der die Order endete',
  MempoolPending: ({ what, offered }) =>
    `${what} für ${offered}: abgeschickt, wartet auf einen Block.`,
  Pending: ({ what, offered }) => `${what} für ${offered}: offen auf der Kette.`,
  MempoolEvaluated: ({ what }) => `${what}: die Ausführung wartet auf einen Block.`,
  Evaluated: ({ what, offered, gets }) => `${what}: ausgeführt. ${offered} → ${gets}.`,
  MempoolRefunded: ({ what }) => `${what}: auf dem Weg zurück zu dir.`,
  Refunded: ({ what, offered }) => `${what}: beendet, ${offered} kam zurück.`,
  Dropped: ({ what }) =>
    `${what}: kam nie in einen Block. Nichts wurde ausgegeben; gib sie noch einmal auf.`,
};
