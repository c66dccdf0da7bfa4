// A server on github.com/centrifugal/centrifuge: one channel a pair. Arguments: port of the feed,
// and milliseconds for which messages to a socket are collected (0: each is written by itself).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/centrifugal/centrifuge"
)

type trade struct {
	TimeMs                               int64
	Base, Quote, BaseAmount, QuoteAmount string
}

type bar struct {
	time, trades                           int64
	low, high, open, close, volume, amount float64
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

// The message of ours, prices with six digits.
func message(t trade, b *bar, seq int64) map[string]any {
	six := func(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }
	data := map[string]any{"pair": map[string]string{"base": t.Base, "quote": t.Quote}, "time": b.time,
		"low": six(b.low), "high": six(b.high), "open": six(b.open), "close": six(b.close), "trades": b.trades,
		"final": false, "volume": six(b.volume), "baseVolume": six(b.amount), "isRelevant": true}
	return map[string]any{"requestId": "r0000", "event": "LastBarUpdate", "messageType": "Response",
		"data": data, "epoch": "1-peer", "seq": seq, "prev": seq - 1, "ts": time.Now().UnixMilli()}
}

func follow(node *centrifuge.Node, port string) {
	feed, err := net.Dial("tcp", "127.0.0.1:"+port)
	check(err)
	bars, seq := map[string]*bar{}, int64(0)
	for lines := bufio.NewScanner(feed); lines.Scan(); seq++ {
		var t trade
		check(json.Unmarshal(lines.Bytes(), &t))
		base, _ := strconv.ParseFloat(t.BaseAmount, 64)
		quote, _ := strconv.ParseFloat(t.QuoteAmount, 64)
		quote /= 1e6
		price, minute := quote/base, t.TimeMs/60000*60
		b := bars[t.Base]
		if b == nil || b.time != minute {
			b = &bar{time: minute, low: price, high: price, open: price}
			bars[t.Base] = b
		}
		b.low, b.high, b.close = min(b.low, price), max(b.high, price), price
		b.trades, b.volume, b.amount = b.trades+1, b.volume+quote, b.amount+base
		text, err := json.Marshal(message(t, b, seq))
		check(err)
		_, err = node.Publish(t.Base, text)
		check(err)
	}
}

func main() {
	delay, err := strconv.Atoi(os.Args[2])
	check(err)
	node, err := centrifuge.New(centrifuge.Config{})
	check(err)
	node.OnConnecting(func(context.Context, centrifuge.ConnectEvent) (centrifuge.ConnectReply, error) {
		writeDelay := time.Duration(delay) * time.Millisecond
		return centrifuge.ConnectReply{Credentials: &centrifuge.Credentials{}, WriteDelay: writeDelay}, nil
	})
	node.OnConnect(func(client *centrifuge.Client) {
		client.OnSubscribe(func(_ centrifuge.SubscribeEvent, done centrifuge.SubscribeCallback) {
			done(centrifuge.SubscribeReply{}, nil)
		})
	})
	check(node.Run())
	quiet := centrifuge.PingPongConfig{PingInterval: -1, PongTimeout: -1}
	sockets := centrifuge.WebsocketConfig{PingPongConfig: quiet}
	http.Handle("/ws", centrifuge.NewWebsocketHandler(node, sockets))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	fmt.Printf("port %d\n", listener.Addr().(*net.TCPAddr).Port)
	go follow(node, os.Args[1])
	check(http.Serve(listener, nil))
}
