/** German of the token's page, of trading, signing, locking and launching. */
import type { Messages } from '../english.ts';

export const TOKEN: Messages['token'] = {
  loading: 'Das Token wird geladen',
  chart: 'Chart',
  curve: 'Kurve',
  amm: 'AMM',
  copyId: 'Asset-ID kopieren',
  copied: 'Asset-ID kopiert.',
  unknown: 'Dieses Token ist hier noch nicht bekannt.',
  unknownWhy: 'Wurde es gerade erst gestartet, erscheint es hier mit dem nächsten Block.',
  toMarket: 'Zum Markt',
  graduation: 'Abschluss',
  onTheCurve:
    'Bei 100 % schließt die Kurve: alle ihre Coins und die übrigen Token ziehen in einen ' +
    'AMM-Pool um, in dem zum selben Preis weitergehandelt wird. Offene Orders werden dort ' +
    'ausgeführt.',
  full:
    'Die Kurve ist voll. Ihre Coins und Token sind auf dem Weg in den AMM-Pool; bis das in einem ' +
    'Block steht, bleiben Orders offen.',
  graduated:
    'Dieses Token hat seine Kurve abgeschlossen: es wird in einem AMM-Pool gehandelt. Die Kurve ' +
    'bleibt geschlossen.',
  ammHolds: (coins) => `AMM-Pool mit ${coins}`,
  filled: (coins, cap) => `${coins} von ${cap}`,
  missing: (coins) => `Noch ${coins} bis zum Abschluss.`,
  pressure: 'Käufe und Verkäufe',
  buys: { one: '# Kauf', other: '# Käufe' },
  sells: { one: '# Verkauf', other: '# Verkäufe' },
  traders: { one: '# Händler in 24h', other: '# Händler in 24h' },
  windows: { '5m': '5m', '1h': '1h', '24h': '24h' },
  book: 'Offene Orders nach Preis',
  bookCounts: (asks, bids) => `${asks} Verkauf, ${bids} Kauf`,
  worstPrice: 'Schlechtester Preis',
  tokens: 'Token',
  noSells: 'keine offenen Verkäufe',
  noBuys: 'keine offenen Käufe',
  poolPrice: (price) => `Pool ${price}`,
  adaEach: (price) => `${price} ADA je Token`,
  holders: 'Inhaber',
  moreHolders: 'Mehr Inhaber',
  largestOf: (listed, all) => `Die größten ${listed} von ${all}`,
  distribution: 'Wer wie viel von der Gesamtmenge hat',
  onCurve: 'Kurve',
  inAmm: 'AMM-Pool',
  tokensOnCurve: 'Token, die noch auf der Kurve sind',
  tokensInAmm: 'Token im AMM-Pool',
  poolMark: 'Pool',
  authorMark: 'Urheber',
  tokensOf: (who, tokens) => `${who}: ${tokens} Token`,
  parts: { author: 'Urheber', top: 'Größte 10', locked: 'Gesperrt', others: 'Andere' },
  locks: 'Sperren',
  noLocks: 'Von diesem Token ist nichts gesperrt.',
  lockedTokens: (tokens) => `${tokens} Token`,
  unlocked: 'kann abgehoben werden',
  until: (when) => `bis ${when}`,
  insights: 'Vor dem Kauf',
  noCautions: 'nichts Auffälliges',
  cautions: { one: '# Warnung', other: '# Warnungen' },
  caution: 'Achtung',
  fine: 'In Ordnung',
  flags: {
    shares: {
      top10: 'Die größten 10 haben',
      topHolder: 'Der größte hat',
      author: 'Der Urheber hat',
    },
    outside: 'Von allen Token, die den Pool verlassen haben.',
    authorSold: 'Urheber hat verkauft',
    authorSoldMeans: 'Ob ein Verkauf mit dem Schlüssel des Urhebers ausgeführt wurde.',
    sold: (tokens) => `${tokens} Token`,
    no: 'nein',
    bundled: 'Mit dem Start gekauft',
    bundledMeans:
      'Andere Schlüssel als der des Urhebers, die im Block des Starts gekauft haben, und wie ' +
      'viel ' +
      'sie damit von allen Token haben, die den Pool verlassen haben.',
    none: 'kein anderer Schlüssel',
    bundle: (percent) => ({ one: `# Schlüssel, ${percent}%`, other: `# Schlüssel, ${percent}%` }),
  },
  sides: { all: 'Alle', buy: 'Käufe', sell: 'Verkäufe' },
  sideOf: (what) => `${what}: Seite`,
  sizeOf: (what) => `${what}: Größe`,
  anySize: 'Jede Größe',
  mine: 'Meine',
  trades: 'Trades',
  tradesNewestFirst: 'Trades, neueste zuerst',
  tradeColumns: ['Preis', 'Token', 'Wert', 'Wallet', 'Alter'],
  tradesOf: (wallet) => `Nur Trades der Wallet ${wallet}`,
  thisWallet: 'Wallet',
  invested: 'bezahlt',
  gain: 'Gewinn',
  allTrades: 'Trades aller Wallets',
  olderTrades: 'Ältere Trades',
  newest: { one: 'Die neuesten #', other: 'Die neuesten #' },
  noTrades: 'Noch keine Trades.',
  noFilteredTrades: 'Kein Trade passt zum Filter.',
  buyAt: 'Kauf zu',
  sellAt: 'Verkauf zu',
  tradeTitle: (price, when, key) =>
    `${price} ADA je Token, ${when}${key === null ? '' : `, Schlüssel ${key}`}`,
  orders: 'Orders',
  ordersNewestFirst: 'Orders, neueste zuerst',
  orderColumns: {
    side: 'Seite',
    offers: 'Bietet',
    gets: 'Bekommt',
    worst: 'Grenze',
    state: 'Stand',
    age: 'Alter',
  },
  olderOrders: 'Ältere Orders',
  ordersShown: ({ shown, all, waiting }) =>
    `${shown} von ${all}${waiting === 0 ? '' : ` · ${waiting} warten`}`,
  noOrders: 'Noch keine Orders.',
  noFilteredOrders: 'Keine der bisher geladenen Orders passt zum Filter.',
  buy: 'Kauf',
  sell: 'Verkauf',
  anyPrice: 'jeder',
  orderExplained: ({ meaning, placed, ended, order, pkh }) =>
    `${meaning} Aufgegeben ${placed}.${ended === null ? '' : ` Beendet ${ended}.`} ` +
    `Order ${order} des Schlüssels ${pkh}.`,
};

export const AMOUNTS: Messages['amounts'] = {
  none: 'Gib einen Betrag ein.',
  grouped: 'Schreibe den Betrag ohne Punkte; ein Komma trennt die Nachkommastellen.',
  unreadable: 'Das ist kein Betrag: Ziffern und höchstens ein Komma.',
  noDecimals: 'Token haben keine Nachkommastellen: gib eine ganze Zahl ein.',
  digits: (most) => `Höchstens ${most} Ziffern dürfen nach dem Komma stehen.`,
  tooMuch: 'So viel kann es nicht geben.',
  zero: 'Gib einen Betrag über 0 ein.',
};

export const TRADE: Messages['trade'] = {
  title: 'Handeln',
  kind: 'Art der Order',
  kinds: { market: 'Markt', limit: 'Limit' },
  limit: {
    mostPrice: 'Preis höchstens',
    leastPrice: 'Preis mindestens',
    now: (price) => `Jetzt ${price} ADA je Token.`,
    steps: 'Abstand zum jetzigen Preis',
    wait: 'Wartet',
    waits: { hour: '1 Std.', day: '1 Tag', week: '7 Tage', month: '30 Tage' },
    enter: 'Gib Preis und Betrag ein: die Order wartet, bis der Markt diesen Preis gibt.',
    means: (offered, least) =>
      `Sie wartet, bis der Pool für ${offered} im Ganzen ${least} oder mehr gibt, mit Gebühren.`,
    until: (when) =>
      `Sonst kommt sie ab ${when} zurück, abzüglich höchstens 0,6 ADA. Du kannst sie jederzeit ` +
      'stornieren.',
    noEnd: 'Sie wartet, bis sie ausgeführt ist oder du sie stornierst.',
  },
  buy: 'Kaufen',
  sell: 'Verkaufen',
  side: 'Seite',
  buyBy: 'Kaufen nach',
  buyByNames: { BUY: 'ADA ausgeben', BUY_WITH_OUTPUT: 'Token bekommen' },
  youSell: 'Du verkaufst',
  youSpend: 'Du gibst aus',
  youGet: 'Du bekommst',
  youHave: (amount) => `Du hast ${amount}.`,
  amounts: 'Beträge',
  share: 'Anteil deines Guthabens',
  slippage: 'Spielraum',
  own: 'Eigen',
  any: 'Jeder',
  ownSlippage: 'Eigener Preisspielraum',
  notAPercentage: 'Gib einen Prozentsatz von 0 bis 99,99 ein.',
  anyOutput: 'Wird zu jedem Preis ausgeführt: du bekommst womöglich fast nichts.',
  fillsFor: (percent) => `Wird ab ${percent} des Angebots ausgeführt.`,
  reviewBuy: 'Kauf prüfen',
  reviewSell: 'Verkauf prüfen',
  signAndBuy: 'Signieren und kaufen',
  signAndSell: 'Signieren und verkaufen',
  networkFee: 'Netzwerkgebühr',
  yourOrders: 'Deine Orders',
  buySent: 'Der Kauf ist abgeschickt. Er wartet auf einen Block.',
  sellSent: 'Der Verkauf ist abgeschickt. Er wartet auf einen Block.',
  priceMoved:
    'Der Preis hat sich weiter bewegt, als du gesehen hast. Das sind die Bedingungen jetzt.',
  notPlaced: (what, why) => `Die Order über ${what} wurde nicht aufgegeben. ${why}`,
  enterAmount: 'Gib einen Betrag ein, um zu sehen, was du bekommst.',
  getNow: (amount) => `Du bekommst jetzt ${amount}.`,
  plainly: (least) => `Du bekommst mindestens ${least}, sonst bleibt die Order offen und wartet.`,
  largeImpact: 'Das bewegt den Preis stark: ein kleinerer Betrag bekommt einen besseren.',
  oneClick: 'Größen und Kauf mit einem Klick',
  sizes: 'Größen eines Kaufs, ADA',
  sizeNumber: (number) => `Größe ${number}`,
  noSize: 'Gib einen Betrag in ADA ein.',
  switchOn: 'Mit einem Klick kaufen',
  oneClickMeans:
    'Ein Druck unten kauft sofort, ohne den letzten Blick, mit dem Preisspielraum von oben. Wenn ' +
    'du wiederkommst, ist es wieder aus.',
  buyNow: 'Sofort kaufen',
  buyFor: (ada) => `Für ${ada} ₳ kaufen`,
  buyNowFor: (ada) => `Sofort für ${ada} ADA kaufen`,
  terms: {
    names: {
      offer: 'Du bietest',
      now: 'Du bekommst jetzt',
      least: 'Du bekommst mindestens',
      price: 'Preis',
      impact: 'Preiswirkung',
      tradingFee: 'Handelsgebühr',
      executorFee: 'Gebühr der Ausführung',
      deposit: 'Pfand',
      pay: 'Du zahlst jetzt',
      refundable: 'Rückgabe möglich ab',
    },
    offerMeans: 'Was in den Handel geht.',
    nowMeans: {
      CURVE: 'Was die Kurve in diesem Moment zahlt, nach Gebühren.',
      AMM: 'Was der AMM-Pool in diesem Moment zahlt, nach Gebühren.',
    },
    leastMeans: (least) =>
      `${least} ist der schlechteste Preis, den die Order annimmt; eher bleibt sie offen.`,
    priceMeans: (price, ticker) => `${price} ADA für ein ${ticker}, mit Gebühren.`,
    impactMeans: (impact, isBuy) =>
      isBuy
        ? `Du zahlst je Token ${impact} mehr als jetzt, mit Gebühren: ein Kauf bewegt den Preis.`
        : `Du bekommst je Token ${impact} weniger, mit Gebühren: ein Verkauf bewegt den Preis.`,
    executorFeeMeans: 'Für den, der die Order ausführt; er behält sie, wenn sie ausgeführt ist.',
    depositMeans: 'Hält die Order auf der Kette am Leben und kommt mit ihr zurück.',
    payMeans:
      'Was zuerst aus deiner Wallet geht. Die Gebühr des Netzwerks, etwa 0,2 ADA, kommt dazu.',
    refundableMeans: 'Ist sie bis dahin nicht ausgeführt, kann sie ohne dich zurückgegeben werden.',
    never: 'nie',
    neverMeans: 'Sie wartet, bis sie ausgeführt ist oder du sie zurücknimmst.',
    curveFeeMeans: 'Die prozentuale Gebühr der Kurve, von der ADA-Seite abgezogen.',
    ammFeeMeans: (creator, platform) =>
      `Urheber ${creator}, Plattform ${platform}, von der ADA-Seite abgezogen.`,
  },
};

export const SIGN: Messages['sign'] = {
  title: 'Was du signierst',
  readHere: 'In diesem Browser aus der Transaktion gelesen.',
  isFee: 'ist die Gebühr des Netzwerks',
  comesBack: 'kommt in deine Wallet zurück',
  validUntil: (when) => `Gültig bis ${when}: danach nimmt sie kein Block mehr auf.`,
  noEnd: 'Sie hat kein Ende: ein Block kann sie jederzeit aufnehmen.',
  transaction: 'Transaktion',
  tokensOf: (policy) => `von ${policy}`,
  others: { one: '# anderes Token', other: '# andere Token' },
  goesTo: 'geht an',
  goesToOrder: 'geht in die Order',
  orderWords: 'Eine Order am Skript des Marktes, in deinem Namen.',
};

export const LOCK: Messages['lock'] = {
  open: 'Token sperren …',
  openMeans: 'Gesperrte Token kann vor ihrer Zeit niemand bewegen, auch du nicht.',
  title: (what) => `${what} sperren`,
  review: 'Sperre prüfen',
  sign: 'Signieren und sperren',
  goes: 'wird gesperrt bei',
  words: 'Jede Stufe ist ein eigener Output, nur für deinen Schlüssel.',
  sent: 'Die Sperre ist abgeschickt. Sie gilt, wenn ein Block sie hat.',
  amount: 'Betrag',
  all: 'Alle',
  until: 'Bis (deine Zeit)',
  untilMeans: 'Die letzte Stufe öffnet in diesem Moment.',
  later: { day: '1 Tag', month: '30 Tage', year: '1 Jahr' },
  stages: 'Stufen',
  stagesMeans: 'Gleiche Teile, in gleichen Abständen.',
  atOnce: '1, alles auf einmal',
  opens: 'Was wann öffnet',
  columns: ['Stufe', 'Öffnet', 'Token'],
  noEnd: 'Wähle den Moment, bis zu dem sie gesperrt sind.',
  passed: 'Dieser Moment ist vorbei: wähle einen späteren.',
};

export const LOGO: Messages['logo'] = {
  label: 'Logo',
  choose: 'Wähle ein Bild',
  limits: 'PNG, JPEG oder GIF; höchstens 5 MiB und 4096 × 4096 Pixel.',
  drawnAgain:
    'PNG und JPEG werden hier neu gezeichnet: Ort und Kamera eines Fotos bleiben bei dir.',
  size: (width, height, size) => `${width} × ${height} Pixel, ${size}`,
  none: 'Wähle ein Bild.',
  empty: 'Diese Datei ist leer.',
  tooLarge: (size) => `Ein Logo hat höchstens 5 MiB; diese Datei hat ${size}.`,
  otherType: 'Ein Logo ist ein Bild in PNG, JPEG oder GIF; diese Datei ist keines.',
  damaged: 'Dieses Bild ist beschädigt: der Browser kann es nicht lesen.',
  tooWide: (width, height) =>
    `Ein Logo hat höchstens 4096 × 4096 Pixel; dieses hat ${width} × ${height}.`,
};

export const LAUNCH: Messages['launch'] = {
  title: 'Ein Token starten',
  form: 'Start',
  words:
    'Eine Kurve hält die Gesamtmenge und bestimmt den Preis: jeder Kauf hebt ihn, jeder Verkauf ' +
    'senkt ihn. Ist sie voll, zieht das Token in einen AMM-Pool um.',
  noChain: 'Dieser Server hat keine Kette: hier kann nichts gestartet werden.',
  names: {
    name: 'Name',
    ticker: 'Ticker',
    description: 'Beschreibung (optional)',
    twitter: 'X (Twitter) (optional)',
    telegram: 'Telegram (optional)',
    discord: 'Discord (optional)',
    website: 'Webseite (optional)',
    initialDeposit: 'Erster Kauf (optional)',
  },
  hints: {
    name: 'Bis zu 16 Zeichen. Er bleibt für immer.',
    ticker: '1 bis 6 Buchstaben und Ziffern.',
    description: 'Höchstens 500 Zeichen.',
    link: 'Vollständiger Link, beginnend mit https://',
    initialDeposit: 'Du kaufst die ersten Token im Start selbst.',
  },
  inWallets: {
    title: 'In Wallets',
    means:
      'Name, Ticker, Bild und Beschreibung stehen für immer im Start (CIP-25). Eine Wallet holt ' +
      'das Bild aus IPFS: sie zeigt es, sobald jemand die Datei dort abgelegt hat.',
  },
  kind: 'Art',
  assetTypes: { Meme: 'Meme', AI: 'KI' },
  launch: 'Start',
  types: { DEFAULT: 'Normal', HYPED: 'Gehypt' },
  review: 'Start prüfen',
  building: 'Die Transaktion wird gebaut.',
  lookAt: (name) => `${name} starten`,
  sign: 'Signieren und starten',
  sent: 'Der Start ist abgeschickt. Seine Seite öffnet sich, wenn ein Block ihn hat.',
  firstBuy: 'Erster Kauf',
  none: 'keiner',
  youGet: 'Du bekommst',
  asset: 'Asset',
  signWords:
    'Der Pool mit dem, was du nicht kaufst, die Gebühr eines Starts und seine Beschreibung.',
  problems: {
    noName: 'Gib einen Namen ein.',
    longName: (most, is) => `Ein Name hat höchstens ${most} Zeichen; dieser hat ${is}.`,
    heavyName: (most, is) => `Ein Name hat höchstens ${most} Byte UTF-8; dieser hat ${is}.`,
    unreadable: {
      control: 'Ein Name hat keine Steuerzeichen.',
      bidirectional: 'Ein Name hat keine Zeichen, die die Schreibrichtung ändern.',
      unknown:
        'Ein Name hat keine Ersatzzeichen (U+FFFD) und keine unbelegten oder privaten Zeichen.',
      hidden: 'Ein Name hat keine unsichtbaren Zeichen, etwa ein Leerzeichen ohne Breite.',
      invisible: 'Ein Name hat mindestens ein sichtbares Zeichen.',
    },
    noTicker: 'Gib einen Ticker ein.',
    ticker: 'Ein Ticker hat 1 bis 6 Buchstaben und Ziffern, A bis Z und 0 bis 9.',
    description: (most, is) => `Höchstens ${most} Zeichen; dies hat ${is}.`,
    halfCharacter: 'Dies enthält ein halbes Zeichen.',
    direction: 'Eine Beschreibung hat keine Zeichen, die die Schreibrichtung ändern.',
    link: (most) =>
      'Gib den ganzen Link ein: https:// und ein Host, ohne Benutzer, Passwort, Leerzeichen und ' +
      `Backslash, höchstens ${most} Byte.`,
  },
};
